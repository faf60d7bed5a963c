//! Columns as an Arrow stream in a capsule: the consumer owns the memory, and nothing is copied.

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, RecordBatchIterator};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use run::Column;
use std::sync::Arc;

/// The capsule's name in the Arrow PyCapsule interface.
const STREAM_NAME: &std::ffi::CStr = c"arrow_array_stream";

/// A table that any Arrow library can import.
#[pyclass(frozen, module = "aqmlab._core")]
pub(crate) struct Stream(RecordBatch);

impl Stream {
    /// A table of these columns, which have the same length; null where they are NaN.
    pub(crate) fn new(columns: Vec<Column>) -> Self {
        Self::of(columns.into_iter().map(|column| (column.name, floats(column.values))))
    }

    /// A table of these columns, which have the same length.
    pub(crate) fn of(columns: impl IntoIterator<Item = (String, ArrayRef)>) -> Self {
        Self(RecordBatch::try_from_iter(columns).expect("columns have the same length, and there is one"))
    }
}

/// A column of numbers; null where they are NaN.
pub(crate) fn floats(values: Vec<f64>) -> ArrayRef {
    let defined: Vec<bool> = values.iter().map(|value| !value.is_nan()).collect();
    let nulls = defined.contains(&false).then(|| defined.into());
    Arc::new(Float64Array::new(values.into(), nulls))
}

#[pymethods]
impl Stream {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A producer may ignore a requested schema (Arrow PyCapsule interface, "schema requests").
        drop(requested_schema);
        let schema = self.0.schema();
        let batches = RecordBatchIterator::new([Ok(self.0.clone())], schema);
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, STREAM_NAME)
    }
}
