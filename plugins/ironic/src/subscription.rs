//! Event subscriptions: asking a BMC, by way of Ironic, to send its events somewhere.

use bmo_provisioner::{EventSubscription, EventSubscriptionRequest, ProvisionerError, Result};
use serde_json::{Value, json};

use crate::pass::Pass;

impl Pass {
    /// See [`bmo_provisioner::Provisioner::add_bmc_event_subscription`].
    pub async fn subscribe(&self, request: EventSubscriptionRequest) -> Result<EventSubscription> {
        const DOING: &str = "failed to create the subscription";
        let id = self.registered(DOING)?;
        let mut body = json!({ "Destination": request.destination, "Context": request.context });
        if !request.headers.is_empty() {
            body["HttpHeaders"] = request
                .headers
                .iter()
                .map(|(name, value)| json!({ (name.as_str()): value.expose() }))
                .collect();
        }
        let answer = self
            .ironic
            .passthru(true, &id, "create_subscription", &body)
            .await;
        let answer = answer.map_err(|error| {
            // Ironic's answer may repeat what it was sent.
            let mut error = self.plain_error(DOING, &error);
            for (_, value) in request.headers.iter().filter(|(_, value)| !value.is_empty()) {
                error.message = error.message.replace(value.expose(), "<hidden>");
            }
            error
        })?;
        let subscription_id = match &answer["Id"] {
            Value::String(id) => id.clone(),
            Value::Null => String::new(),
            other => other.to_string(),
        };
        Ok(EventSubscription { subscription_id })
    }

    /// See [`bmo_provisioner::Provisioner::remove_bmc_event_subscription`]. What is gone already is removed.
    pub async fn unsubscribe(&self, subscription: EventSubscription) -> Result<()> {
        const DOING: &str = "failed to delete the subscription";
        if subscription.subscription_id.is_empty() {
            return Ok(());
        }
        let id = match self.registered(DOING) {
            Ok(id) => id,
            Err(ProvisionerError { .. }) => return Ok(()),
        };
        let body = json!({ "id": subscription.subscription_id });
        match self
            .ironic
            .passthru(false, &id, "delete_subscription", &body)
            .await
        {
            Ok(_) => Ok(()),
            Err(error) if error.is(404) => Ok(()),
            Err(error) => Err(self.plain_error(DOING, &error)),
        }
    }
}
