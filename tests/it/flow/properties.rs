//! Properties that hold for every document.
