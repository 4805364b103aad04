use std::sync::Arc;

use super::StoreError;

/// The vectors of an item for semantic search. They are made by one model and have the same length.
///
/// An item may have several vectors, for example one per field. The nearest one decides its score.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedding {
    model: Arc<str>,
    vectors: Vec<Vec<f32>>,
}

/// The vector of a semantic search, with the model that made it.
#[derive(Clone, Debug, PartialEq)]
pub struct Near {
    model: Arc<str>,
    vector: Vec<f32>,
}

impl Embedding {
    /// Creates an embedding from vectors of a model.
    ///
    /// # Errors
    /// [`Invalid`](StoreError::Invalid) if there is no vector, if a vector is empty, if the lengths differ, or if a
    /// component is not a finite number.
    pub fn new(model: impl Into<Arc<str>>, vectors: Vec<Vec<f32>>) -> Result<Self, StoreError> {
        let dimensions = vectors.first().map_or(0, Vec::len);
        for vector in &vectors {
            check(vector)?;
            if vector.len() != dimensions {
                return Err(StoreError::invalid(format!(
                    "the vectors of one item have {dimensions} and {} dimensions: all vectors must have the same length",
                    vector.len()
                )));
            }
        }
        if vectors.is_empty() {
            return Err(StoreError::invalid(
                "an embedding has no vector: use `None` for an item without an embedding",
            ));
        }
        Ok(Self { model: model.into(), vectors })
    }

    /// Returns the name of the model.
    pub fn model(&self) -> &Arc<str> {
        &self.model
    }

    /// Returns the vectors.
    pub fn vectors(&self) -> &[Vec<f32>] {
        &self.vectors
    }
}

impl Near {
    /// Creates a search vector of a model.
    ///
    /// # Errors
    /// [`Invalid`](StoreError::Invalid) if the vector is empty, or if a component is not a finite number.
    pub fn new(model: impl Into<Arc<str>>, vector: Vec<f32>) -> Result<Self, StoreError> {
        check(&vector)?;
        Ok(Self { model: model.into(), vector })
    }

    /// Returns the name of the model.
    pub fn model(&self) -> &Arc<str> {
        &self.model
    }

    /// Returns the vector.
    pub fn vector(&self) -> &[f32] {
        &self.vector
    }

    /// Returns `true` if vectors of the given model and length can be compared with this one.
    pub fn compares(&self, model: &str, dimensions: usize) -> bool {
        *self.model == *model && self.vector.len() == dimensions
    }

    /// Returns the similarity to a vector of the same model: the cosine, from -1 to 1.
    ///
    /// The score is 0 if one of the vectors has only zeros.
    pub fn score(&self, vector: &[f32]) -> f32 {
        // In `f64`, because the square of an `f32` can overflow.
        let (mut product, mut one, mut other) = (0.0_f64, 0.0_f64, 0.0_f64);
        for (a, b) in self.vector.iter().zip(vector) {
            let (a, b) = (f64::from(*a), f64::from(*b));
            product += a * b;
            one += a * a;
            other += b * b;
        }
        let lengths = one.sqrt() * other.sqrt();
        #[expect(clippy::cast_possible_truncation, reason = "a score is as precise as its vectors")]
        if lengths > 0.0 { (product / lengths).clamp(-1.0, 1.0) as f32 } else { 0.0 }
    }
}

fn check(vector: &[f32]) -> Result<(), StoreError> {
    if vector.is_empty() {
        return Err(StoreError::invalid("a vector has no dimensions: it must have at least one"));
    }
    match vector.iter().find(|number| !number.is_finite()) {
        Some(number) => Err(StoreError::invalid(format!(
            "a vector has the component {number}: every component must be a finite number"
        ))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn score_is_the_cosine() {
        let near = |vector: &[f32]| Near::new("m", vector.to_vec()).unwrap();
        assert_eq!(near(&[2.0, 0.0]).score(&[0.5, 0.0]), 1.0);
        assert_eq!(near(&[1.0, 0.0]).score(&[0.0, 7.0]), 0.0);
        assert_eq!(near(&[1.0, 0.0]).score(&[-3.0, 0.0]), -1.0);
        assert_eq!(near(&[1.0, 0.0]).score(&[0.0, 0.0]), 0.0);
        assert_eq!(near(&[f32::MAX, f32::MAX]).score(&[f32::MAX, f32::MAX]), 1.0);
    }

    #[test]
    fn invalid_vectors_are_refused() {
        for vectors in [vec![], vec![vec![]], vec![vec![f32::NAN]], vec![vec![1.0], vec![1.0, 2.0]]] {
            assert!(Embedding::new("m", vectors).is_err());
        }
        assert!(Near::new("m", vec![f32::INFINITY]).is_err());
    }
}
