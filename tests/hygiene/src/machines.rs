//! Derives machines among shadowed names. The crate has no dependency on serde.

use self::nodes::{Check, Lone, Only, r#Type, inner};
use crate::shadowed::*;

#[derive(::renamed::machine::Machine)]
#[machine(nodes(Check, r#Type, self::inner::Other = "other"), output = u64, state = Shadowed, context = u8, crate = ::renamed)]
pub struct Machine;

impl Check {
    pub async fn run(
        &self,
        _: &::renamed::ContextWith<u8>,
    ) -> ::renamed::machine::To<Machine, (r#Type, inner::Other, ::renamed::machine::End<u64>)> {
        ::renamed::machine::to(::renamed::machine::End(self.0))
    }
}

impl r#Type {
    pub async fn run(&self) -> ::renamed::Result<Check> {
        ::std::result::Result::Ok(Check(0))
    }
}

#[derive(::renamed::machine::Machine)]
#[machine(nodes(Only), crate = ::renamed)]
pub struct Smallest;

impl Only {
    pub async fn run(&self) -> ::renamed::machine::End {
        ::renamed::machine::End(())
    }
}

macro_rules! machine {
    ($name:ident of $node:ty, $output:ty) => {
        #[derive(::renamed::machine::Machine)]
        #[machine(nodes($node), output = $output, crate = ::renamed)]
        pub struct $name;
    };
}

impl Lone {
    pub async fn run(&self) -> ::renamed::machine::End<::core::primitive::u8> {
        ::renamed::machine::End(1)
    }
}

machine!(FromAMacro of Lone, ::core::primitive::u8);

pub mod nodes {
    //! Nodes. serde's derives use primitive type names, so this module does not import the shadowed ones.

    #[derive(::renamed::__private::serde::Serialize, ::renamed::__private::serde::Deserialize)]
    #[serde(crate = "::renamed::__private::serde")]
    pub struct Check(pub ::core::primitive::u64);

    #[derive(::renamed::__private::serde::Serialize, ::renamed::__private::serde::Deserialize)]
    #[serde(crate = "::renamed::__private::serde")]
    pub struct r#Type {
        /// A field.
        pub text: ::std::string::String,
    }

    pub mod inner {
        //! A nested module.

        #[derive(::renamed::__private::serde::Serialize, ::renamed::__private::serde::Deserialize)]
        #[serde(crate = "::renamed::__private::serde")]
        pub enum Other {
            /// A unit variant.
            A,
        }

        impl Other {
            pub async fn run(&self, _: &crate::shadowed::Shadowed) -> ::renamed::machine::End<u64> {
                ::renamed::machine::End(1)
            }
        }
    }

    #[derive(::renamed::__private::serde::Serialize, ::renamed::__private::serde::Deserialize)]
    #[serde(crate = "::renamed::__private::serde")]
    pub struct Only;

    #[derive(::renamed::__private::serde::Serialize, ::renamed::__private::serde::Deserialize)]
    #[serde(crate = "::renamed::__private::serde")]
    pub struct Lone;
}
