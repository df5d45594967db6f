{{- define "onecode.fullname" -}}
{{- ternary .Release.Name (printf "%s-onecode" .Release.Name) (contains "onecode" .Release.Name) | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "onecode.labels" -}}
app.kubernetes.io/name: onecode
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/part-of: onecode
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "onecode.selectorLabels" -}}
app.kubernetes.io/name: onecode
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* Selects the Pods of some components, or of all: dict root, components. */}}
{{- define "onecode.selector" -}}
matchLabels:
  {{- include "onecode.selectorLabels" .root | nindent 2 }}
  {{- if not .components }}
  {{- else if eq (len .components) 1 }}
  app.kubernetes.io/component: {{ first .components }}
  {{- else }}
matchExpressions:
  - { key: app.kubernetes.io/component, operator: In, values: {{ toJson .components }} }
  {{- end }}
{{- end }}

{{/* The host of an address, without its port. */}}
{{- define "onecode.host" -}}
{{ urlParse . | dig "hostname" "" }}
{{- end }}

{{/* The Pod of a process: dict root, name, image, command, seconds (to stop), config, env, secrets, ports. */}}
{{- define "onecode.pod" -}}
{{- $values := get .root.Values .name -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets: {{ toJson . }}
{{- end }}
{{- with .seconds }}
terminationGracePeriodSeconds: {{ . }}
{{- end }}
securityContext:
  # The image's user `node`, as a number because runAsNonRoot cannot check a name.
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  runAsNonRoot: true
  seccompProfile: { type: RuntimeDefault }
{{- with .root.Values.nodeSelector }}
nodeSelector: {{ toJson . }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations: {{ toJson . }}
{{- end }}
{{- if .ports }}
topologySpreadConstraints:
  {{- range $key := list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ $key }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      {{- include "onecode.selector" (dict "root" $.root "components" (list $.name)) | nindent 6 }}
  {{- end }}
{{- end }}
containers:
  - name: {{ .name }}
    image: {{ .root.Values.image.repository }}/{{ .image }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}
    command: {{ toJson .command }}
    securityContext:
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
      capabilities: { drop: [ALL] }
    env:
      {{- range .config }}
      - name: {{ . }}
        valueFrom:
          configMapKeyRef:
            name: {{ include "onecode.fullname" $.root }}
            key: {{ . }}
            {{- if eq . "OIDC_MISSING_EMAIL_VERIFIED" }}
            optional: true
            {{- end }}
      {{- end }}
      {{- range $name, $value := merge (dict) $values.env (.env | default dict) }}
      - { name: {{ $name }}, value: {{ quote $value }} }
      {{- end }}
      {{- range .secrets }}
      - { name: {{ . }}_FILE, value: /etc/onecode/{{ . }} }
      {{- end }}
    {{- with .ports }}
    ports:
      {{- range $name, $port := . }}
      - { name: {{ $name }}, containerPort: {{ $port }} }
      {{- end }}
    startupProbe:
      httpGet: { path: /livez, port: metrics }
      periodSeconds: 2
      failureThreshold: 60
    livenessProbe:
      httpGet: { path: /livez, port: metrics }
      periodSeconds: 10
      timeoutSeconds: 5
      failureThreshold: 6
    readinessProbe:
      httpGet: { path: /readyz, port: metrics }
      periodSeconds: 5
      timeoutSeconds: 3
      failureThreshold: 2
    {{- end }}
    resources: {{ toJson $values.resources }}
    volumeMounts:
      - { name: secrets, mountPath: /etc/onecode, readOnly: true }
      {{- with .root.Values.extraVolumeMounts }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
volumes:
  - name: secrets
    secret:
      secretName: {{ .root.Values.secretName }}
      defaultMode: 0440
      items:
        {{- range .secrets }}
        - { key: {{ get ($.secretKeys | default dict) . | default . }}, path: {{ . }} }
        {{- end }}
  {{- with .root.Values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{/* The Deployment of a process, with the arguments of onecode.pod. */}}
{{- define "onecode.deployment" -}}
{{- $values := get .root.Values .name -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "onecode.fullname" .root }}-{{ .name }}
  labels:
    {{- include "onecode.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .name }}
spec:
  {{- if not .ports }}
  replicas: 1
  strategy: { type: Recreate }
  {{- else }}
  {{- if or (eq .name "console") (eq .root.Values.autoscaling.type "none") }}
  replicas: {{ $values.replicas }}
  {{- end }}
  strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } }
  {{- end }}
  selector:
    {{- include "onecode.selector" (dict "root" .root "components" (list .name)) | nindent 4 }}
  template:
    metadata:
      labels:
        {{- include "onecode.labels" .root | nindent 8 }}
        app.kubernetes.io/component: {{ .name }}
      annotations:
        checksum/config: {{ include "onecode.config" .root | sha256sum }}
        {{- if and .ports .root.Values.monitoring.annotations }}
        prometheus.io/scrape: 'true'
        prometheus.io/port: '9090'
        prometheus.io/path: /metrics
        {{- end }}
    spec:
      {{- include "onecode.pod" . | nindent 6 }}
{{- end }}

{{/* The Service of a process with the port `http`: dict root name. */}}
{{- define "onecode.service" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ include "onecode.fullname" .root }}-{{ .name }}
  labels:
    {{- include "onecode.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .name }}
spec:
  selector:
    {{- include "onecode.selectorLabels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .name }}
  ports:
    - { name: http, port: 80, targetPort: http }
{{- end }}

{{/* The variables of the ConfigMap. */}}
{{- define "onecode.config" -}}
{{- $proxies := or .Values.gateway.enabled .Values.ingress.enabled -}}
{{- range $name, $value := .Values.config }}
{{- if or $value (not (hasPrefix "OIDC_" $name)) }}
{{ $name }}: {{ $value | default (eq $name "PROXY_HOPS" | ternary (ternary "1" "0" $proxies) "") | quote }}
{{- end }}
{{- end }}
{{- end }}

{{/* A NetworkPolicy up to its rules: dict root, name, components, type. */}}
{{- define "onecode.policy" -}}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ include "onecode.fullname" .root }}-{{ .name }}
  labels:
    {{- include "onecode.labels" .root | nindent 4 }}
spec:
  podSelector:
    {{- include "onecode.selector" . | nindent 4 }}
  policyTypes: [{{ .type }}]
{{- end }}

{{/* Public addresses, without private ones. */}}
{{- define "onecode.public" -}}
- ipBlock:
    cidr: 0.0.0.0/0
    except: [10.0.0.0/8, 100.64.0.0/10, 169.254.0.0/16, 172.16.0.0/12, 192.168.0.0/16]
- ipBlock:
    cidr: ::/0
    except: [fc00::/7, fe80::/10]
{{- end }}
