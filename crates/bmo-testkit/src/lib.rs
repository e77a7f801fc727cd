//! Scenario helpers, scripted provisioners and fault injection for tests.
