//! The SDK's suite against this plugin, without any operator.

use bmo_plugin::prelude::HostFeatures;
use bmo_plugin::testkit::{self, Life};
use rustdemo_provisioner::Lab;

#[tokio::test]
async fn the_lab_keeps_the_contract() {
    let lab = Lab::new(testkit::config(HostFeatures::default(), "metal")).unwrap();
    testkit::conformance(&lab, &Life::default()).await.assert();
}
