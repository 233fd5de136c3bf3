//! The same call over and over. At some number the law ends the turn; before that the coach warns
//! the model.

use crate::domain::Exchange;
use crate::governor::{self, RepeatedCall, STOP_AT};

/// The words for the model after the results of its last step, if the step made a call that was
/// made often already.
pub(super) fn warnings(turn: &Exchange) -> Option<String> {
    let (mut made, mut warnings) = (Vec::new(), Vec::new());
    for calls in turn.steps() {
        warnings.clear(); // those of earlier steps were given already
        for call in calls {
            if let RepeatedCall::Warn(times) = governor::repeated_call(&made, &call.name, &call.arguments) {
                warnings.push(warning(&call.name, times));
            }
            made.push((call.name.clone(), call.arguments.clone()));
        }
    }
    (!warnings.is_empty()).then(|| warnings.join("\n"))
}

fn warning(tool: &str, times: usize) -> String {
    format!(
        "[controller] This was call number {times} of `{tool}` with the same arguments in this turn. The result will not change: use it, \
         change the arguments, or tell the user what is in the way. At number {STOP_AT} the turn ends."
    )
}

#[cfg(test)]
mod tests;
