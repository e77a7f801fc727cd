//! A `kube::Client` whose transport is the operator: all of kube's API, no credentials in the plugin.

use std::task::{Context, Poll};

use bmo_provisioner::wire::method::KubeCall;
use bmo_provisioner::wire::{KubeReader, KubeRequest, KubeResponse};
use bytes::Bytes;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use http::{HeaderMap, Request, Response, header};
use http_body_util::Full;
use kube::client::Body;

use crate::host::HostHandle;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A client that reads from the operator's cache or from the API server. Must be made inside the runtime.
pub(crate) fn client(host: HostHandle, reader: KubeReader, namespace: &str) -> kube::Client {
    let namespace = if namespace.is_empty() {
        "default"
    } else {
        namespace
    };
    kube::Client::new(Transport { host, reader }, namespace)
}

#[derive(Clone, Copy, Debug)]
struct Transport {
    host: HostHandle,
    reader: KubeReader,
}

impl tower::Service<Request<Body>> for Transport {
    type Response = Response<Full<Bytes>>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let Self { host, reader } = *self;
        async move {
            let request = to_message(request, reader).await?;
            Ok(to_http(host.call::<KubeCall>(&request).await?)?)
        }
        .boxed()
    }
}

async fn to_message(request: Request<Body>, reader: KubeReader) -> Result<KubeRequest, BoxError> {
    let (head, body) = request.into_parts();
    let path = head
        .uri
        .path_and_query()
        .map_or_else(|| head.uri.path().to_owned(), ToString::to_string);
    let body = body.collect_bytes().await?;
    Ok(KubeRequest {
        reader,
        method: head.method.to_string(),
        path,
        content_type: text(&head.headers, &header::CONTENT_TYPE),
        accept: text(&head.headers, &header::ACCEPT),
        body: String::from_utf8(body.to_vec())?,
    })
}

fn to_http(response: KubeResponse) -> Result<Response<Full<Bytes>>, http::Error> {
    let mut builder = Response::builder().status(response.status);
    if !response.content_type.is_empty() {
        builder = builder.header(header::CONTENT_TYPE, response.content_type);
    }
    builder.body(Full::from(response.body))
}

fn text(headers: &HeaderMap, name: &header::HeaderName) -> String {
    headers
        .get(name)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default()
        .to_owned()
}
