{{- /* A container that runs a command of the operator: (dict "root" $ "component" … "name" … "args" list "admin" whether it gets the administrators' logins). */ -}}
{{- define "service.command" -}}
{{- $values := .root.Values -}}
- name: {{ .name }}
  image: {{ include "service.image" (dict "root" .root) | quote }}
  imagePullPolicy: {{ $values.image.pullPolicy }}
  command: [node, dist/ops.js]
  args:
    {{- toYaml .args | nindent 4 }}
  env:
    {{- include "service.operatorVariables" .root | nindent 4 }}
    {{- if .admin }}
    {{- include "service.secretVariables" (dict "secret" $values.prepare.existingSecret "names" (list "DATABASE_ADMIN_URL" "EVENTSTORE_ADMIN_URL")) | indent 4 }}
    {{- end }}
  resources:
    {{- toYaml $values.ops.resources | nindent 4 }}
  securityContext:
    {{- include "service.containerSecurity" .root | nindent 4 }}
  volumeMounts:
    {{- include "service.mounts" . | nindent 4 }}
{{- end -}}
