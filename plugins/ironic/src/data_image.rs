//! Data images: a virtual CD in a machine that is in use.
//!
//! Ironic accepts the order before it tries, and says what went wrong only in the node's last error. So the look
//! after an order reports that error, once.

use bmo_provisioner::{AttachDataImageRequest, ProvisionerError, Result};

use crate::pass::Pass;
use crate::pass::flow::{Flow, Stop};

impl Pass {
    /// See [`bmo_provisioner::Provisioner::get_data_image_status`].
    pub async fn data_image_status(&self) -> Result<bool> {
        plain(self.data_image_steps().await)
    }

    async fn data_image_steps(&self) -> Flow<bool> {
        let version = self.ironic.version();
        if !version.has_virtual_media_list() {
            let text = format!(
                "Ironic's API version {version} cannot list virtual media (1.93 can): upgrade Ironic"
            );
            return Err(ProvisionerError::unsupported(text).into());
        }
        let node = self.node().await?;
        if !node.reservation.is_empty() {
            let text = format!("node {} is busy: {} works on it", node.uuid, node.reservation);
            return Err(ProvisionerError::busy(text).into());
        }
        let media = self.ironic.virtual_media(&node.uuid).await;
        let media = media.map_err(|error| self.error("failed to list virtual media", &error))?;
        let inserted = media.iter().any(|medium| medium.inserted);
        let ordered = self
            .shared
            .of_node(&node.uuid, |known| std::mem::take(&mut known.attaching));
        if ordered && !inserted && !node.last_error.is_empty() {
            let text = self.scrub(&format!("failed to attach the data image: {}", node.last_error));
            return Err(ProvisionerError::transient(text).into());
        }
        Ok(inserted)
    }

    /// See [`bmo_provisioner::Provisioner::attach_data_image`].
    pub async fn attach_image(&self, request: AttachDataImageRequest) -> Result<()> {
        const DOING: &str = "failed to attach the data image";
        let id = self.registered(DOING)?;
        self.ironic
            .attach_virtual_cd(&id, &request.url)
            .await
            .map_err(|error| self.media_error(DOING, &error))?;
        self.shared.of_node(&id, |known| known.attaching = true);
        Ok(())
    }

    /// See [`bmo_provisioner::Provisioner::detach_data_image`].
    pub async fn detach_image(&self) -> Result<()> {
        const DOING: &str = "failed to detach the data image";
        let id = self.registered(DOING)?;
        self.ironic
            .detach_virtual_cd(&id)
            .await
            .map_err(|error| self.media_error(DOING, &error))
    }

    fn media_error(&self, doing: &str, error: &crate::client::ApiError) -> ProvisionerError {
        if error.is(409) {
            return ProvisionerError::busy(self.scrub(&format!("{doing}: {}", error.message())));
        }
        self.plain_error(doing, error)
    }
}

/// The answer of a method that has no other way to wait than an error.
fn plain<T>(flow: Flow<T>) -> Result<T> {
    flow.map_err(|stop| match stop {
        Stop::Error(error) => error,
        Stop::Failed(text)
        | Stop::Pending {
            waiting_for: text, ..
        } => ProvisionerError::transient(text),
    })
}
