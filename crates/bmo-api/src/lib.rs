//! Types of the metal3.io/v1alpha1 API and their CRDs.
