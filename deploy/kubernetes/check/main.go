// Reads manifests by the types of Kubernetes itself: what those do not know is a mistake.
package main

import (
	"bytes"
	"fmt"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

func check(document []byte) error {
	var about metav1.TypeMeta
	if err := yaml.Unmarshal(document, &about); err != nil {
		return err
	}
	kinds := map[string]any{
		"v1/Service": &corev1.Service{}, "v1/PersistentVolumeClaim": &corev1.PersistentVolumeClaim{},
		"apps/v1/StatefulSet": &appsv1.StatefulSet{}, "batch/v1/Job": &batchv1.Job{},
	}
	kind, known := kinds[about.APIVersion+"/"+about.Kind]
	if !known {
		return fmt.Errorf("unknown kind %s/%s", about.APIVersion, about.Kind)
	}
	return yaml.UnmarshalStrict(document, kind)
}

func main() {
	for _, file := range os.Args[1:] {
		text, err := os.ReadFile(file)
		if err == nil {
			for _, document := range bytes.Split(text, []byte("\n---\n")) {
				if err = check(document); err != nil {
					break
				}
			}
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", file, err)
			os.Exit(1)
		}
	}
}
