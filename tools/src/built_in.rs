//! What a tool of ours says of itself. All else that the engine asks of a tool
//! follows from it.

use crate::failure::Failure;
use crate::{Access, CallOrder, Tool, ToolCall, ToolContext, ToolOutput, ToolSpec, schema};
use everfold_kernel::ports::BoxFuture;
use schemars::JsonSchema;
use serde_json::Value;
use std::borrow::Cow;

/// A tool with a struct for its arguments, whose schema a model is shown.
pub(crate) trait BuiltIn: Send + Sync {
    const NAME: &'static str;
    /// What it does and when to use it, for one that always says the same.
    const ABOUT: &'static str = "";
    const ORDER: CallOrder = CallOrder::Any;
    type Input: JsonSchema;
    /// Why a call was not done.
    type Error: Failure;

    fn about(&self) -> Cow<'static, str> {
        Self::ABOUT.into()
    }

    /// What a call with these arguments would touch.
    fn access(_input: &Value, _context: &ToolContext) -> Access {
        Access::Nothing
    }

    /// Does it.
    fn run(
        call: &ToolCall,
        context: &ToolContext,
    ) -> impl Future<Output = Result<ToolOutput, Self::Error>> + Send;
}

impl<T: BuiltIn> Tool for T {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: T::NAME.into(),
            description: self.about(),
            input_schema: schema::of::<T::Input>(),
        }
    }

    fn name(&self) -> Cow<'static, str> {
        T::NAME.into()
    }

    fn access(&self, input: &Value, context: &ToolContext) -> Access {
        T::access(input, context)
    }

    fn order(&self) -> CallOrder {
        T::ORDER
    }

    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move { T::run(call, context).await.unwrap_or_else(ToolOutput::from) })
    }
}
