//! botmesh-index
