//! Faces: systems on the kernel that have more than a profile and tools. They do not import each
//! other.

pub mod campaigns;
pub mod voice;
