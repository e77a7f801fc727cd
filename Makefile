# Thin: each target is one line of cargo, xtask or a script.
.DEFAULT_GOAL := help
.PHONY: help run test lint fmt plugins release crds schemas run-ironic test-ironic test-kube bench

ARGS ?=
TARGET := $(or $(CARGO_TARGET_DIR),target)

help: ## Show the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 16

run: plugins ## Start the embedded API and the manager, walk sample hosts to provisioned (ARGS=--once to end then)
	$(TARGET)/debug/bmo demo $(ARGS)

test: ## Everything that needs no service beyond what it installs itself
	test/test.sh $(ARGS)

lint: ## Formatting, clippy, generated files, dependency rules, shell and Python syntax
	test/lint.sh

fmt: ## Format the sources
	cargo fmt --all

plugins: ## Build the programs and the shipped plugins
	cargo xtask plugins

release: ## The same, optimised
	cargo xtask plugins --release

crds: ## Write the CRD manifests from the types
	cargo xtask crds

schemas: ## Write the JSON Schemas of the plugin protocol
	cargo xtask schemas

run-ironic: plugins ## Start an Ironic lab and the operator with the ironic plugin
	test/ironic/run.sh run

test-ironic: plugins ## Walk hosts through their life on a real Ironic
	test/ironic/run.sh test $(ARGS)

test-kube: plugins ## Controllers, plugins, kubectl and the API suite on a real kube-apiserver
	test/kube/test.sh $(ARGS)

bench: ## Benchmarks
	cargo bench --workspace $(ARGS)
