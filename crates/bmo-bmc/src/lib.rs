//! BMC addresses: from the text a user writes to the driver that serves it and what that driver needs to know.
//!
//! ```
//! # fn main() -> Result<(), bmo_bmc::AddressError> {
//! use bmo_bmc::{AccessDetails, Credentials};
//!
//! let access = AccessDetails::parse("redfish://192.0.2.10/redfish/v1/Systems/1", false)?;
//! assert_eq!(access.driver(), "redfish");
//! let info = access.driver_info(&Credentials::new("admin", "secret"));
//! assert_eq!(info["redfish_address"], "https://192.0.2.10");
//! # Ok(())
//! # }
//! ```
//!
//! Everything that differs between the kinds of address is in one table, [`schemes`]. The crate is pure: no I/O.

mod access;
mod credentials;
mod go_url;
pub mod schemes;
mod url;

pub use access::AccessDetails;
pub use credentials::{Credentials, CredentialsError};
pub use url::{AddressError, BmcUrl};
