{{- /* The names of all objects begin with the release. */ -}}
{{- define "service.name" -}}
{{- printf "%s-reading" .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- /* What selects the pods of a component: (dict "root" $ "component" "api"). Never changes. */ -}}
{{- define "service.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "service.labels" -}}
{{ include "service.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{- /* The image, with the tag or digest of the component where it has one of its own. */ -}}
{{- define "service.image" -}}
{{- $own := .image | default dict -}}
{{- $image := .root.Values.image -}}
{{- if $own.digest -}}
{{ $image.repository }}@{{ $own.digest }}
{{- else if $own.tag -}}
{{ $image.repository }}:{{ $own.tag }}
{{- else if $image.digest -}}
{{ $image.repository }}@{{ $image.digest }}
{{- else -}}
{{ $image.repository }}:{{ $image.tag | default .root.Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- /* Variables out of a Secret: (dict "secret" name "names" list). */ -}}
{{- define "service.secretVariables" -}}
{{- $secret := .secret -}}
{{- range .names }}
- name: {{ . }}
  valueFrom:
    secretKeyRef:
      name: {{ $secret }}
      key: {{ . }}
{{- end }}
{{- end -}}

{{- /* The variables of every program: (dict "root" $ "settings" dict). */ -}}
{{- define "service.variables" -}}
{{- $values := .root.Values -}}
- name: METRICS_HOST
  value: 0.0.0.0
- name: METRICS_PORT
  value: "9464"
{{- $names := concat (list "DATABASE_URL" "EVENTSTORE_URL" "ENCRYPTION_KEYS" "DIGEST_KEY") $values.secretSettings }}
{{- include "service.secretVariables" (dict "secret" $values.existingSecret "names" $names) }}
{{- $settings := mergeOverwrite (dict) $values.settings .settings }}
{{- if $values.keys.existingClaim }}
- name: KEY_DIRECTORY
  value: /keys
{{- if not (hasKey $settings "KEY_PROVIDER") }}
- name: KEY_PROVIDER
  value: file
{{- end }}
{{- end }}
{{- range $name, $value := $settings }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end -}}

{{- /* The variables of migrations and of the operator's commands. */ -}}
{{- define "service.operatorVariables" -}}
{{- include "service.variables" (dict "root" . "settings" (dict)) }}
{{- include "service.secretVariables" (dict "secret" .Values.operator.existingSecret "names" (list "DATABASE_OWNER_URL")) }}
{{- end -}}

{{- define "service.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- /* Whether a pod gets the keys of epochs: not for logins and migrations, which open no readings. */ -}}
{{- define "service.hasKeys" -}}
{{- if and .root.Values.keys.existingClaim (not (has .component (list "prepare" "migrate"))) }}yes{{ end -}}
{{- end -}}

{{- define "service.mounts" -}}
- name: tmp
  mountPath: /tmp
{{- if .root.Values.certificates.existingSecret }}
- name: certificates
  mountPath: /certificates/roots
  readOnly: true
{{- end }}
{{- if include "service.hasKeys" . }}
- name: keys
  mountPath: /keys
{{- end }}
{{- end -}}

{{- /* What every pod has beside its containers: (dict "root" $ "component" "api"). */ -}}
{{- define "service.pod" -}}
{{- $values := .root.Values -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  # The user `node` of the image.
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- if $values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml $values.imagePullSecrets | nindent 2 }}
{{- end }}
{{- if $values.nodeSelector }}
nodeSelector:
  {{- toYaml $values.nodeSelector | nindent 2 }}
{{- end }}
{{- if $values.tolerations }}
tolerations:
  {{- toYaml $values.tolerations | nindent 2 }}
{{- end }}
volumes:
  - name: tmp
    emptyDir:
      sizeLimit: 256Mi
{{- if $values.certificates.existingSecret }}
  - name: certificates
    secret:
      secretName: {{ $values.certificates.existingSecret }}
{{- end }}
{{- if include "service.hasKeys" . }}
  - name: keys
    persistentVolumeClaim:
      claimName: {{ $values.keys.existingClaim }}
{{- end }}
{{- end -}}

{{- define "service.spread" -}}
{{- $selector := include "service.selector" . -}}
{{- if .root.Values.topologyKeys }}
topologySpreadConstraints:
{{- range .root.Values.topologyKeys }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- $selector | nindent 8 }}
{{- end }}
{{- end }}
{{- end -}}

{{- /* Labels and annotations of pods that stay. */ -}}
{{- define "service.podMetadata" -}}
labels:
  {{- include "service.labels" . | nindent 2 }}
{{- if .root.Values.podLabels }}
  {{- toYaml .root.Values.podLabels | nindent 2 }}
{{- end }}
{{- if .root.Values.podAnnotations }}
annotations:
  {{- toYaml .root.Values.podAnnotations | nindent 2 }}
{{- end }}
{{- end -}}

{{- /* What a schema cannot say. */ -}}
{{- define "service.validate" -}}
{{- $values := .Values -}}
{{- range $role := list "follow" "jobs" "webhooks" "upkeep" }}
{{- $taken := false }}
{{- range $worker := $values.workers }}
{{- if has $role $worker.roles }}
{{- $taken = true }}
{{- end }}
{{- end }}
{{- if not $taken }}
{{- fail (printf "workers: none has the role %s; follow, jobs, webhooks and upkeep each need a worker" $role) }}
{{- end }}
{{- end }}
{{- range $name, $worker := $values.workers }}
{{- if eq $worker.autoscaling.mode "lag" }}
{{- if not $values.keda.prometheusAddress }}
{{- fail (printf "workers.%s.autoscaling.mode lag needs keda.prometheusAddress, such as http://prometheus.monitoring:9090" $name) }}
{{- end }}
{{- if and $values.networkPolicy.enabled (not $values.networkPolicy.metricsFrom) }}
{{- fail (printf "workers.%s.autoscaling.mode lag needs networkPolicy.metricsFrom: nobody may read the metrics" $name) }}
{{- end }}
{{- if not $worker.autoscaling.query }}
{{- fail (printf "workers.%s.autoscaling.mode lag needs workers.%s.autoscaling.query" $name $name) }}
{{- end }}
{{- end }}
{{- end }}
{{- if and $values.prepare.enabled (not $values.prepare.existingSecret) }}
{{- fail "prepare.enabled needs prepare.existingSecret, with DATABASE_ADMIN_URL and EVENTSTORE_ADMIN_URL" }}
{{- end }}
{{- end -}}
