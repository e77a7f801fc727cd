//! The config drive: what cloud-init or Ignition finds at first boot. Ironic makes the drive from its parts.

use bmo_provisioner::{HostConfigData, HostData, ProvisionerError, Result, SecretString};
use serde_json::{Map, Value, json};

/// Collects the parts: user data as they are, network data as a mapping, meta data merged over ours.
pub async fn build(host: &HostData, config: &dyn HostConfigData) -> Result<Value> {
    let mut drive = Map::new();
    let user_data = config.user_data().await?;
    if !user_data.is_empty() {
        drive.insert("user_data".to_owned(), user_data.expose().into());
    }
    if let Some(network_data) = parsed("network data", &config.network_data().await?)? {
        drive.insert("network_data".to_owned(), network_data);
    }
    let mut meta_data = json!({
        "uuid": host.uid,
        "metal3-namespace": host.namespace,
        "metal3-name": host.name,
        "local-hostname": host.name,
        "local_hostname": host.name,
        "name": host.name,
    });
    if let Some(Value::Object(users)) = parsed("meta data", &config.meta_data().await?)?
        && let Some(meta_data) = meta_data.as_object_mut()
    {
        meta_data.extend(users);
    }
    drive.insert("meta_data".to_owned(), meta_data);
    Ok(Value::Object(drive))
}

/// A text of the user's as a mapping; `None` where it is empty.
fn parsed(what: &str, text: &SecretString) -> Result<Option<Value>> {
    if text.expose().trim().is_empty() {
        return Ok(None);
    }
    mapping(text.expose())
        .map(Some)
        .map_err(|error| ProvisionerError::transient(format!("failed to read the host's {what}: {error}")))
}

/// A mapping in YAML or JSON. The error says where it is wrong and quotes nothing, since the text may be secret.
pub fn mapping(text: &str) -> std::result::Result<Value, String> {
    let value: Value = serde_saphyr::from_str(text).map_err(|error| match error.location() {
        Some(place) => format!(
            "not valid YAML or JSON at line {} column {}",
            place.line(),
            place.column()
        ),
        None => "not valid YAML or JSON".to_owned(),
    })?;
    if value.is_object() {
        Ok(value)
    } else {
        Err("it is not a mapping of names to values".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::{build, mapping};
    use async_trait::async_trait;
    use bmo_provisioner::{HostConfigData, HostData, Result, SecretString};
    use serde_json::{Value, json};

    struct Data(&'static str, &'static str, &'static str);

    #[async_trait]
    impl HostConfigData for Data {
        async fn user_data(&self) -> Result<SecretString> {
            Ok(self.0.into())
        }
        async fn network_data(&self) -> Result<SecretString> {
            Ok(self.1.into())
        }
        async fn meta_data(&self) -> Result<SecretString> {
            Ok(self.2.into())
        }
    }

    async fn drive(data: Data) -> Result<Value> {
        let host = HostData {
            namespace: "myns".into(),
            name: "myhost".into(),
            uid: "u-i-d".into(),
            ..HostData::default()
        };
        build(&host, &data).await
    }

    #[tokio::test]
    async fn parts_for_what_the_user_gave() {
        let meta = json!({"uuid": "u-i-d", "metal3-namespace": "myns", "metal3-name": "myhost",
                          "local-hostname": "myhost", "local_hostname": "myhost", "name": "myhost"});
        assert_eq!(
            drive(Data("", "", "")).await.unwrap(),
            json!({ "meta_data": meta })
        );

        let mut extended = meta.clone();
        extended["test"] = json!("Meta");
        extended["name"] = json!("mine");
        assert_eq!(
            drive(Data(
                "testUserData",
                "test: NetworkData",
                "{\"test\": \"Meta\", \"name\": \"mine\"}"
            ))
            .await
            .unwrap(),
            json!({"user_data": "testUserData", "network_data": {"test": "NetworkData"}, "meta_data": extended})
        );
    }

    #[tokio::test]
    async fn what_is_no_mapping_is_refused_without_being_shown() {
        for data in [
            Data("", "- a\n- hunter2", ""),
            Data("", "", "hunter2"),
            Data("", "a: [hunter2", ""),
        ] {
            let error = drive(data).await.unwrap_err().to_string();
            assert!(error.contains("data") && !error.contains("hunter2"), "{error}");
        }
        assert!(mapping("a: 1").is_ok());
    }
}
