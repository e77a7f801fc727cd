// Command controller-manager is Kubernetes' own; the lab runs two of its controllers: the one that empties
// deleted namespaces and the one that collects objects whose owner is gone.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"
)

func main() { os.Exit(cli.Run(app.NewControllerManagerCommand())) }
