//! The SDK's conformance suite, against the fixture.

use bmo_fixture::Fixture;
use bmo_plugin::testkit::{Life, conformance};

#[tokio::test(start_paused = true)]
async fn the_fixture_keeps_the_contract() {
    conformance(&Fixture::new(), &Life::default()).await.assert();
}
