//! Columns as an Arrow stream in a capsule: the receiver owns the memory, nothing is copied.

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, RecordBatchIterator};
use netsim::Column;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::sync::Arc;

/// What the Arrow PyCapsule interface calls the capsule.
const STREAM_NAME: &std::ffi::CStr = c"arrow_array_stream";

/// A table that any Arrow library can take in.
#[pyclass(frozen, module = "aqmlab._core")]
pub(crate) struct Stream(RecordBatch);

impl Stream {
    /// A table of these columns, which have the same length; null where they are NaN.
    pub(crate) fn new(columns: Vec<Column>) -> Self {
        let arrays = columns.into_iter().map(|column| {
            let defined: Vec<bool> = column.values.iter().map(|value| !value.is_nan()).collect();
            let nulls = defined.contains(&false).then(|| defined.into());
            let array: ArrayRef = Arc::new(Float64Array::new(column.values.into(), nulls));
            (column.name, array)
        });
        Self(RecordBatch::try_from_iter(arrays).expect("columns have the same length and are not empty"))
    }
}

#[pymethods]
impl Stream {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A producer may leave another schema unheard (Arrow PyCapsule interface, "schema requests").
        drop(requested_schema);
        let schema = self.0.schema();
        let batches = RecordBatchIterator::new([Ok(self.0.clone())], schema);
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, STREAM_NAME)
    }
}
