//! Arrays whose length is a parameter, with what serde needs to write them.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use serde::de::{Error, SeqAccess, Visitor};
use serde::ser::SerializeTuple;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One element for each of `V` virtual channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PerVc<T, const V: usize>(pub [T; V]);

impl<T, const V: usize> Deref for PerVc<T, V> {
    type Target = [T; V];

    #[inline]
    fn deref(&self) -> &[T; V] {
        &self.0
    }
}

impl<T, const V: usize> DerefMut for PerVc<T, V> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T; V] {
        &mut self.0
    }
}

impl<T: Serialize, const V: usize> Serialize for PerVc<T, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut tuple = serializer.serialize_tuple(V)?;
        self.0.iter().try_for_each(|element| tuple.serialize_element(element))?;
        tuple.end()
    }
}

impl<'de, T: Deserialize<'de>, const V: usize> Deserialize<'de> for PerVc<T, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_tuple(V, Elements(PhantomData))
    }
}

struct Elements<T, const V: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const V: usize> Visitor<'de> for Elements<T, V> {
    type Value = PerVc<T, V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{V} elements")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<PerVc<T, V>, A::Error> {
        let mut elements = Vec::with_capacity(V);
        while let Some(element) = sequence.next_element()? {
            elements.push(element);
        }
        let found = elements.len();
        elements.try_into().map(PerVc).map_err(|_| A::Error::invalid_length(found, &self))
    }
}
