//! How a fleet is reached (F2).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Credentials and certificates for NATS, as paths of files. Ignored in a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FleetSettings {
    /// A `.creds` file: JWT and `NKey` of a user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credentials: Option<String>,
    /// A file with the seed of an `NKey`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nkey: Option<String>,
    /// The certificates of the authority that signed the server's, in PEM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_ca: Option<String>,
    /// Our own certificate, in PEM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_cert: Option<String>,
    /// Its key, in PEM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_key: Option<String>,
}
