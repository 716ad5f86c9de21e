{{- /* (dict "root" $ "component" … "name" deployment "autoscaling" values) */ -}}
{{- define "service.cpuAutoscaler" }}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ .name }}
  labels:
    {{- include "service.labels" . | nindent 4 }}
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: {{ .name }}
  minReplicas: {{ int .autoscaling.min }}
  maxReplicas: {{ int .autoscaling.max }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target:
          type: Utilization
          averageUtilization: {{ int .autoscaling.cpuPercent }}
{{- end -}}

{{- define "service.lagAutoscaler" }}
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata:
  name: {{ .name }}
  labels:
    {{- include "service.labels" . | nindent 4 }}
spec:
  scaleTargetRef:
    name: {{ .name }}
  minReplicaCount: {{ int .autoscaling.min }}
  maxReplicaCount: {{ int .autoscaling.max }}
  # Without Prometheus or without the metric, as many as at least.
  fallback:
    failureThreshold: 3
    replicas: {{ int .autoscaling.min }}
  triggers:
    - type: prometheus
      metadata:
        serverAddress: {{ .root.Values.keda.prometheusAddress | quote }}
        query: {{ .autoscaling.query | quote }}
        threshold: {{ int .autoscaling.threshold | quote }}
        # A query without a result is a failure. KEDA would take it for no lag, and keep silent.
        ignoreNullValues: "false"
{{- end -}}
