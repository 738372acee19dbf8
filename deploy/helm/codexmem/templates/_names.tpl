{{/* The name that everything here begins with. */}}
{{- define "codexmem.name" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* What selects the pods of one part: (dict "root" . "part" "server"). */}}
{{- define "codexmem.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end -}}

{{- define "codexmem.labels" -}}
{{ include "codexmem.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{- define "codexmem.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "codexmem.secret" -}}
{{- .Values.secret.existing | default (include "codexmem.name" .) -}}
{{- end -}}

{{/* Whether there is a volume that outlives the pods. */}}
{{- define "codexmem.keeps" -}}
{{- if or .Values.persistence.enabled (eq .Values.mode "sqlite") }}yes{{ end -}}
{{- end -}}

{{- define "codexmem.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "codexmem.name" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end -}}

{{/* One process owns a file, and programs of two versions must not write one schema: the old ones go first. */}}
{{- define "codexmem.strategy" -}}
{{- if or (eq .Values.mode "sqlite") (eq .Values.strategy "Recreate") -}}
type: Recreate
{{- else -}}
type: RollingUpdate
rollingUpdate: {maxUnavailable: 0, maxSurge: 1}
{{- end -}}
{{- end -}}

{{- define "codexmem.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities: {drop: [ALL]}
{{- end -}}

{{- define "codexmem.mounts" -}}
- {name: data, mountPath: /data}
- {name: tmp, mountPath: /tmp}
- {name: settings, mountPath: /etc/codexmem/codexmem, readOnly: true}
{{- end -}}

{{/* The pod around its one container: (dict "root" . "part" "server"). */}}
{{- define "codexmem.pod" -}}
{{- $root := .root -}}
serviceAccountName: {{ include "codexmem.serviceAccount" $root }}
automountServiceAccountToken: false
{{- with $root.Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
terminationGracePeriodSeconds: {{ $root.Values.terminationGracePeriodSeconds }}
{{- with $root.Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $root.Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $root.Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $root.Values.topologySpreadConstraints }}
topologySpreadConstraints: {{- toYaml . | nindent 2 }}
{{- end }}
{{- if eq $root.Values.mode "postgres" }}
initContainers:
  # Whoever comes first waits until the old version's sessions have ended and brings the schema up to date; the others
  # wait for it and find nothing to do. Where the schema is current already, nobody waits.
  - name: schema
    image: {{ include "codexmem.image" $root }}
    imagePullPolicy: {{ $root.Values.image.pullPolicy }}
    args: [db, upgrade, --wait, "300"]
    envFrom: [{configMapRef: {name: {{ include "codexmem.name" $root }}}}]
    securityContext: {{- include "codexmem.containerSecurity" $root | nindent 6 }}
    resources: {{- toYaml (index $root.Values .part).resources | nindent 6 }}
    volumeMounts: {{- include "codexmem.mounts" $root | nindent 6 }}
{{- end }}
volumes:
  - name: tmp
    emptyDir: {sizeLimit: 256Mi}
  - name: settings
    secret:
      secretName: {{ include "codexmem.secret" $root }}
      defaultMode: 0440
      items: [{key: config.toml, path: config.toml}]
  - name: data
    {{- if include "codexmem.keeps" $root }}
    persistentVolumeClaim: {claimName: {{ $root.Values.persistence.existingClaim | default (include "codexmem.name" $root) }}}
    {{- else }}
    emptyDir: {sizeLimit: {{ $root.Values.persistence.size }}}
    {{- end }}
{{- end -}}
