//! Memory: the only SQL of the program itself.

pub mod embedded;
pub mod logins;
