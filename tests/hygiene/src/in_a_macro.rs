//! Derives a state inside a `macro_rules!` macro, with fields passed by the caller.

use ::std::clone::Clone;
use ::std::string::String;

macro_rules! state {
    ($name:ident { $($(#[$meta:meta])* $field:ident: $ty:ty,)* }) => {
        #[derive(::renamed::GraphState, Clone)]
        #[state(crate = ::renamed)]
        pub struct $name {
            $($(#[$meta])* pub $field: $ty,)*
            pub own: u8,
        }
    };
}

state!(FromAMacro {
    #[state(input, validate(length(min = 1)))]
    question: String,
    #[state(ephemeral)]
    flash: u8,
    #[state(exclude, validate(range(min = 1)))]
    secret: u8,
});

pub fn used() -> FromAMacroUpdate {
    FromAMacro::update().question("x").own(1)
}
