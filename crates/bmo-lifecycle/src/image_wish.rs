//! What a machine is to run, compared with what it runs.

use bmo_api::{CustomDeploy, Image};

use crate::context::Pass;

/// The name of a custom deploy method; empty for none.
fn method(deploy: Option<&CustomDeploy>) -> &str {
    deploy.map_or("", |deploy| deploy.method.as_str())
}

/// The URL of an image; empty for none.
fn url(image: Option<&Image>) -> &str {
    image.map_or("", |image| image.url.as_str())
}

/// What a user asks for, or what a machine runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Workload<'a> {
    pub image: Option<&'a Image>,
    pub custom_deploy: Option<&'a CustomDeploy>,
}

impl Workload<'_> {
    /// Whether it is anything at all.
    pub(crate) fn is_some(&self) -> bool {
        !url(self.image).is_empty() || !method(self.custom_deploy).is_empty()
    }

    /// Whether a machine that runs `self` has to be deployed to run `wanted`.
    pub(crate) fn lacks(&self, wanted: &Workload<'_>) -> bool {
        let image = !url(wanted.image).is_empty() && url(self.image).is_empty();
        let wanted_method = method(wanted.custom_deploy);
        image || (!wanted_method.is_empty() && wanted_method != method(self.custom_deploy))
    }

    /// Whether a machine that runs `self` must be deprovisioned because `wanted` is something else.
    pub(crate) fn is_cancelled_by(&self, wanted: &Workload<'_>) -> bool {
        let (wanted_method, running_method) = (method(wanted.custom_deploy), method(self.custom_deploy));
        let (wanted_url, running_url) = (url(wanted.image), url(self.image));
        let other_image = !running_url.is_empty() && wanted_url != running_url;
        if wanted_method.is_empty() {
            !running_method.is_empty() || wanted_url.is_empty() || other_image
        } else {
            (!running_method.is_empty() && running_method != wanted_method) || other_image
        }
    }
}

/// Whether two images are deployed the same way: everything but the Secret that opens the registry.
pub(crate) fn same_deployment(one: Option<&Image>, other: Option<&Image>) -> bool {
    let bare = |image: Option<&Image>| {
        image.map(|image| Image {
            oci_auth_secret_name: None,
            ..image.clone()
        })
    };
    bare(one.filter(|image| !image.is_empty())) == bare(other.filter(|image| !image.is_empty()))
}

impl Pass<'_> {
    /// What the user asks for.
    pub(crate) fn wanted_workload(&self) -> Workload<'_> {
        Workload {
            image: self.host.spec.image.as_ref(),
            custom_deploy: self.host.spec.custom_deploy.as_ref(),
        }
    }

    /// What the machine runs.
    pub(crate) fn running_workload(&self) -> Workload<'_> {
        let provisioning = &self.status.provisioning;
        Workload {
            image: Some(&provisioning.image),
            custom_deploy: provisioning.custom_deploy.as_ref(),
        }
    }

    /// Whether the machine is to run something that it does not run.
    pub(crate) fn needs_provisioning(&self) -> bool {
        self.host.spec.online && self.running_workload().lacks(&self.wanted_workload())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[allow(clippy::unnecessary_wraps, reason = "as it stands in the tables")]
    fn image(url: &str) -> Option<Image> {
        Some(Image {
            url: url.to_owned(),
            ..Image::default()
        })
    }

    #[allow(clippy::unnecessary_wraps, reason = "as it stands in the tables")]
    fn custom(method: &str) -> Option<CustomDeploy> {
        Some(CustomDeploy {
            method: method.to_owned(),
        })
    }

    type Part = (Option<Image>, Option<CustomDeploy>);

    fn workload((image, custom_deploy): &Part) -> Workload<'_> {
        Workload {
            image: image.as_ref(),
            custom_deploy: custom_deploy.as_ref(),
        }
    }

    #[test]
    fn cancelled() {
        let table: [(Part, Part, bool); 13] = [
            ((image("same"), None), (None, None), false),
            ((None, custom("same")), (None, None), false),
            ((image(""), None), (None, None), true),
            ((None, None), (None, None), true),
            ((image("same"), None), (image("same"), None), false),
            ((None, custom("same")), (None, custom("same")), false),
            ((None, None), (image("same"), None), true),
            ((None, None), (None, custom("same")), true),
            ((image("new"), None), (image("same"), None), true),
            ((None, custom("new")), (None, custom("same")), true),
            (
                (image("new"), custom("same")),
                (image("same"), custom("same")),
                true,
            ),
            (
                (image("same"), custom("new")),
                (image("same"), custom("same")),
                true,
            ),
            ((image("same"), None), (image("same"), custom("same")), true),
        ];
        for (wanted, running, expected) in table {
            assert_eq!(
                workload(&running).is_cancelled_by(&workload(&wanted)),
                expected,
                "{wanted:?} over {running:?}"
            );
        }
    }

    #[test]
    fn additions_to_what_runs_do_not_cancel_it() {
        let with_both = (image("same"), custom("same"));
        assert!(!workload(&(image("same"), None)).is_cancelled_by(&workload(&with_both)));
        assert!(!workload(&(None, custom("same"))).is_cancelled_by(&workload(&with_both)));
    }

    #[test]
    fn needs_deployment() {
        let table: [(Part, Part, bool); 7] = [
            ((None, None), (None, None), false),
            ((image("new"), None), (None, None), true),
            ((image("same"), None), (image("same"), None), false),
            ((None, custom("new")), (None, None), true),
            ((None, custom("same")), (None, custom("same")), false),
            ((None, custom("new")), (None, custom("same")), true),
            ((image("new"), custom("same")), (None, custom("same")), true),
        ];
        for (wanted, running, expected) in table {
            assert_eq!(
                workload(&running).lacks(&workload(&wanted)),
                expected,
                "{wanted:?} over {running:?}"
            );
        }
    }

    #[test]
    fn the_registry_secret_is_no_reason_to_deploy_again() {
        let mut other = image("oci://registry/image");
        assert!(same_deployment(
            other.as_ref(),
            image("oci://registry/image").as_ref()
        ));
        if let Some(image) = &mut other {
            image.oci_auth_secret_name = Some("secret".into());
        }
        assert!(same_deployment(
            other.as_ref(),
            image("oci://registry/image").as_ref()
        ));
        if let Some(image) = &mut other {
            image.checksum = "1".into();
        }
        assert!(!same_deployment(
            other.as_ref(),
            image("oci://registry/image").as_ref()
        ));
        assert!(same_deployment(None, image("").as_ref()));
    }
}
