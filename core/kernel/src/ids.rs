//! Names of things. Each is a text of its own type, so that a session cannot
//! be passed where a tool call is meant.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Wraps a text as this kind of name.
            pub fn new(text: impl AsRef<str>) -> Self {
                Self(Arc::from(text.as_ref()))
            }

            /// The text itself.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self::new(text)
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(Arc::from(text))
            }
        }
    };
}

id!(
    /// One conversation: a UUID, and the stem of its transcript's file name.
    SessionId
);
id!(
    /// One record of the log (`uuid` in the transcript).
    RecordId
);
id!(
    /// One model response (`message.id`); all its blocks share it.
    MessageId
);
id!(
    /// One HTTP request, as the server named it.
    RequestId
);
id!(
    /// One call of a tool by the model, and the name of its result.
    ToolUseId
);
id!(
    /// One letter between agents.
    LetterId
);
id!(
    /// A model, as its server calls it.
    ModelId
);
