//! What the server does on its own.

use std::sync::Arc;

use crate::server::ApiServer;

pub fn start(_server: &Arc<ApiServer>) {}
