//! The tools of the operator: scripts, which are capabilities under the document's names, the
//! screen, and what lasts between tasks.

mod context;
mod screenshot;
mod scripts;

use std::path::PathBuf;
use std::sync::Arc;

use super::screen::DesktopScreen;
use super::tool::Tool;

/// All of them, for the profile that names them. Pictures are kept in the folder `media`.
pub fn tools(screen: DesktopScreen, media: PathBuf) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(scripts::ListScripts),
        Arc::new(scripts::ExecuteScript),
        Arc::new(scripts::CreateScript),
        Arc::new(scripts::UpdateScript),
        Arc::new(screenshot::TakeScreenshot::new(screen, media)),
        Arc::new(context::UpdateGlobalContext),
    ]
}
