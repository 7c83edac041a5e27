/**
 * The options of a deployment, in the order in which they are reported. Names, defaults and groups are the reference's, so that operators
 * find what they know; the descriptions are written here. The last six have no counterpart there. deployment.md §2.3.
 *
 * In defaults, `{brand}` is the product's word in lower case, with dashes for what is no letter or digit.
 */
import type { Definition } from "./Definition.js"

const networking = { name: "Networking", yaml: "networking" }
const http = { name: "HTTP", yaml: "http", parent: networking }
const tls = { name: "TLS", yaml: "tls", parent: networking }
const derp = { name: "DERP", yaml: "derp", parent: networking }
const introspection = { name: "Introspection", yaml: "introspection" }
const statsCollection = { name: "Stats Collection", yaml: "statsCollection", parent: introspection }
const usageStats = { name: "Usage Stats", yaml: "usageStats", parent: statsCollection }
const prometheus = { name: "Prometheus", yaml: "prometheus", parent: introspection }
const pprof = { name: "pprof", yaml: "pprof", parent: introspection }
const oauth2 = { name: "OAuth2", yaml: "oauth2" }
const github = { name: "GitHub", yaml: "github", parent: oauth2 }
const oidc = { name: "OIDC", yaml: "oidc" }
const telemetry = { name: "Telemetry", yaml: "telemetry" }
const tracing = { name: "Tracing", yaml: "tracing", parent: introspection }
const provisioning = { name: "Provisioning", yaml: "provisioning" }
const logging = { name: "Logging", yaml: "logging", parent: introspection }
const dangerous = { name: "⚠️ Dangerous", yaml: "dangerous" }
const cluster = { name: "Cluster", yaml: "cluster", parent: networking }
const config = { name: "Config" }
const client = { name: "Client", yaml: "client" }
const userQuietHoursSchedule = { name: "User Quiet Hours Schedule", yaml: "userQuietHoursSchedule" }
const healthCheck = { name: "Health Check", yaml: "healthcheck", parent: introspection }
const email = { name: "Email", yaml: "email" }
const emailAuthentication = { name: "Email Authentication", yaml: "emailAuth", parent: email }
const emailTLS = { name: "Email TLS", yaml: "emailTLS", parent: email }
const notifications = { name: "Notifications", yaml: "notifications" }
const notificationsEmail = { name: "Email", yaml: "email", parent: notifications }
const notificationsEmailAuthentication = { name: "Email Authentication", yaml: "emailAuth", parent: notificationsEmail }
const notificationsEmailTLS = { name: "Email TLS", yaml: "emailTLS", parent: notificationsEmail }
const webhook = { name: "Webhook", yaml: "webhook", parent: notifications }
const inbox = { name: "Inbox", yaml: "inbox", parent: notifications }
const workspacePrebuilds = { name: "Workspace Prebuilds", yaml: "workspace_prebuilds" }
const chat = { name: "Chat", yaml: "chat" }
const aiBridgeDeprecated = { name: "AI Bridge (Deprecated)", yaml: "aibridge" }
const aiGateway = { name: "AI Gateway", yaml: "ai_gateway" }
const aiBridgeProxyDeprecated = { name: "AI Bridge Proxy (Deprecated)", yaml: "aibridgeproxy" }
const aiGatewayProxy = { name: "AI Gateway Proxy", yaml: "ai_gateway_proxy" }
const retention = { name: "Retention", yaml: "retention" }
const bounds = { name: "Bounds", yaml: "bounds" }
const templateBuilder = { name: "Template Builder", yaml: "templateBuilder" }

export const definitions = {
  "access-url": {
    name: "Access URL",
    type: "url",
    description: "The URL at which users and agents reach the server.",
    yaml: "accessURL",
    group: networking,
    path: "access_url",
    annotations: { external_workspace_proxies: "true" }
  },
  "wildcard-access-url": {
    name: "Wildcard Access URL",
    type: "string",
    description: "The host pattern below which workspace apps have subdomains of their own, such as *.apps.example.com.",
    yaml: "wildcardAccessURL",
    group: networking,
    path: "wildcard_access_url",
    omittedWhenZero: true,
    annotations: { external_workspace_proxies: "true" }
  },
  "docs-url": {
    name: "Docs URL",
    type: "url",
    description: "The address of the documentation that pages and messages link to.",
    yaml: "docsURL",
    group: networking,
    path: "docs_url",
    annotations: { external_workspace_proxies: "true" }
  },
  "redirect-to-access-url": {
    name: "Redirect to Access URL",
    type: "bool",
    description: "Redirect requests for other hosts to the access URL.",
    yaml: "redirectToAccessURL",
    group: networking,
    path: "redirect_to_access_url",
    omittedWhenZero: true
  },
  "autobuild-poll-interval": {
    name: "Autobuild Poll Interval",
    type: "duration",
    description: "How often workspaces are started, stopped and deleted by their schedules.",
    default: "1m0s",
    yaml: "autobuildPollInterval",
    path: "autobuild_poll_interval",
    omittedWhenZero: true,
    hidden: true
  },
  "job-hang-detector-interval": {
    name: "Job Reaper Detect Interval",
    type: "duration",
    description: "How often provisioner jobs are checked for a daemon that no longer reports.",
    default: "1m0s",
    yaml: "jobHangDetectorInterval",
    path: "job_hang_detector_interval",
    omittedWhenZero: true,
    hidden: true
  },
  "http-address": {
    name: "HTTP Address",
    type: "string",
    description: "The address to listen on; port 0 takes a free port.",
    default: "127.0.0.1:3000",
    yaml: "httpAddress",
    group: http,
    path: "http_address",
    omittedWhenZero: true,
    annotations: { external_workspace_proxies: "true" }
  },
  "tls-address": {
    name: "TLS Address",
    type: "host:port",
    description: "The address to listen on for TLS; port 0 takes a free port.",
    default: "127.0.0.1:3443",
    yaml: "address",
    group: tls,
    path: "tls.address",
    annotations: { external_workspace_proxies: "true" }
  },
  address: {
    name: "Address",
    type: "host:port",
    description: "The address to listen on. Deprecated: use --http-address or --tls-address.",
    shorthand: "a",
    group: networking,
    path: "address",
    hidden: true,
    annotations: { external_workspace_proxies: "true" },
    useInstead: ["http-address", "tls-address"]
  },
  "tls-enable": {
    name: "TLS Enable",
    type: "bool",
    description: "Serve TLS at tls-address. An http-address that is set serves plain HTTP as well.",
    yaml: "enable",
    group: tls,
    path: "tls.enable",
    annotations: { external_workspace_proxies: "true" }
  },
  "tls-redirect-http-to-https": {
    name: "Redirect HTTP to HTTPS",
    type: "bool",
    description: "Redirect plain requests to https. Deprecated: use --redirect-to-access-url.",
    default: "true",
    yaml: "redirectHTTP",
    group: tls,
    path: "tls.redirect_http",
    hidden: true,
    annotations: { external_workspace_proxies: "true" },
    useInstead: ["redirect-to-access-url"]
  },
  "tls-cert-file": {
    name: "TLS Certificate Files",
    type: "string-array",
    description:
      "Certificate chains in PEM, one file per certificate; the first one is for clients that name no host. Files are read again when they change.",
    yaml: "certFiles",
    group: tls,
    path: "tls.cert_file",
    annotations: { external_workspace_proxies: "true" }
  },
  "tls-client-ca-file": {
    name: "TLS Client CA Files",
    type: "string",
    description: "The authorities in PEM that clients' certificates are checked against.",
    yaml: "clientCAFile",
    group: tls,
    path: "tls.client_ca_file",
    annotations: { external_workspace_proxies: "true" }
  },
  "tls-client-auth": {
    name: "TLS Client Auth",
    type: "string",
    description: "Whether clients show a certificate: none, request, require-any, verify-if-given or require-and-verify.",
    default: "none",
    yaml: "clientAuth",
    group: tls,
    path: "tls.client_auth",
    annotations: { external_workspace_proxies: "true" }
  },
  "tls-key-file": {
    name: "TLS Key Files",
    type: "string-array",
    description: "The private keys in PEM, in the order of the certificates.",
    yaml: "keyFiles",
    group: tls,
    path: "tls.key_file",
    annotations: { external_workspace_proxies: "true" }
  },
  "tls-min-version": {
    name: "TLS Minimum Version",
    type: "string",
    description: "The oldest TLS version to accept: tls12 or tls13.",
    default: "tls12",
    yaml: "minVersion",
    group: tls,
    path: "tls.min_version",
    annotations: { external_workspace_proxies: "true" }
  },
  "tls-client-cert-file": {
    name: "TLS Client Cert File",
    type: "string",
    description: "The certificate that the server shows to other servers.",
    yaml: "clientCertFile",
    group: tls,
    path: "tls.client_cert_file",
    annotations: { external_workspace_proxies: "true" },
    unused: true,
    refusal: "is not supported: the server would show other servers no certificate"
  },
  "tls-client-key-file": {
    name: "TLS Client Key File",
    type: "string",
    description: "The key of that certificate.",
    yaml: "clientKeyFile",
    group: tls,
    path: "tls.client_key_file",
    annotations: { external_workspace_proxies: "true" },
    unused: true,
    refusal: "is not supported: the server would show other servers no certificate"
  },
  "tls-ciphers": {
    name: "TLS Ciphers",
    type: "string-array",
    description: "The cipher suites to accept below TLS 1.3, by their IANA names; default: those of the runtime.",
    yaml: "tlsCiphers",
    group: tls,
    path: "tls.supported_ciphers",
    annotations: { external_workspace_proxies: "true" }
  },
  "tls-allow-insecure-ciphers": {
    name: "TLS Allow Insecure Ciphers",
    type: "bool",
    description: "Allow cipher suites that are known to be weak.",
    default: "false",
    yaml: "tlsAllowInsecureCiphers",
    group: tls,
    path: "tls.allow_insecure_ciphers",
    annotations: { external_workspace_proxies: "true" }
  },
  "derp-server-enable": {
    name: "DERP Server Enable",
    type: "bool",
    description: "Serve the embedded relay.",
    default: "true",
    yaml: "enable",
    group: derp,
    path: "derp.server.enable",
    annotations: { external_workspace_proxies: "true" }
  },
  "derp-server-region-id": {
    name: "DERP Server Region ID",
    type: "int",
    description: "The region number of the embedded relay.",
    default: "999",
    yaml: "regionID",
    group: derp,
    path: "derp.server.region_id",
    hidden: true
  },
  "derp-server-region-code": {
    name: "DERP Server Region Code",
    type: "string",
    description: "The region code of the embedded relay.",
    default: "{brand}",
    yaml: "regionCode",
    group: derp,
    path: "derp.server.region_code",
    hidden: true
  },
  "derp-server-region-name": {
    name: "DERP Server Region Name",
    type: "string",
    description: "The region name of the embedded relay.",
    default: "Embedded Relay",
    yaml: "regionName",
    group: derp,
    path: "derp.server.region_name"
  },
  "derp-server-stun-addresses": {
    name: "DERP Server STUN Addresses",
    type: "string-array",
    description: "The STUN servers by which clients learn their public addresses; disable gives them none.",
    default: "stun.l.google.com:19302,stun1.l.google.com:19302,stun2.l.google.com:19302,stun3.l.google.com:19302,stun4.l.google.com:19302",
    yaml: "stunAddresses",
    group: derp,
    path: "derp.server.stun_addresses"
  },
  "derp-server-relay-url": {
    name: "DERP Server Relay URL",
    type: "url",
    description: "The URL at which the other processes of the deployment reach this one.",
    yaml: "relayURL",
    group: derp,
    path: "derp.server.relay_url",
    annotations: { enterprise: "true", external_workspace_proxies: "true" }
  },
  "block-direct-connections": {
    name: "Block Direct Connections",
    type: "bool",
    description: "Relay all connections between clients and agents.",
    env: "BLOCK_DIRECT",
    yaml: "blockDirect",
    group: derp,
    path: "derp.config.block_direct",
    annotations: { external_workspace_proxies: "true" }
  },
  "derp-force-websockets": {
    name: "DERP Force WebSockets",
    type: "bool",
    description: "Reach relays over WebSockets only.",
    yaml: "forceWebSockets",
    group: derp,
    path: "derp.config.force_websockets"
  },
  "derp-config-url": {
    name: "DERP Config URL",
    type: "string",
    description: "The URL of a relay map to add.",
    yaml: "url",
    group: derp,
    path: "derp.config.url"
  },
  "derp-config-path": {
    name: "DERP Config Path",
    type: "string",
    description: "The file of a relay map to add.",
    yaml: "configPath",
    group: derp,
    path: "derp.config.path"
  },
  "stats-collection-usage-stats-enable": {
    name: "Stats Collection Usage Stats Enable",
    type: "bool",
    description: "Store the usage statistics that agents report.",
    default: "true",
    yaml: "enable",
    group: usageStats,
    path: "stats_collection.usage_stats.enable"
  },
  "prometheus-enable": {
    name: "Prometheus Enable",
    type: "bool",
    description: "Serve metrics.",
    yaml: "enable",
    group: prometheus,
    path: "prometheus.enable",
    annotations: { external_workspace_proxies: "true" }
  },
  "prometheus-address": {
    name: "Prometheus Address",
    type: "host:port",
    description: "The address to serve metrics on.",
    default: "127.0.0.1:2112",
    yaml: "address",
    group: prometheus,
    path: "prometheus.address",
    annotations: { external_workspace_proxies: "true" }
  },
  "prometheus-collect-agent-stats": {
    name: "Prometheus Collect Agent Stats",
    type: "bool",
    description: "Include the statistics of agents in the metrics.",
    yaml: "collect_agent_stats",
    group: prometheus,
    path: "prometheus.collect_agent_stats"
  },
  "prometheus-aggregate-agent-stats-by": {
    name: "Prometheus Aggregate Agent Stats By",
    type: "string-array",
    description: "The labels by which agents' metrics are added up.",
    default: "agent_name,template_name,username,workspace_name",
    each: ["agent_name", "template_name", "username", "workspace_name"],
    yaml: "aggregate_agent_stats_by",
    group: prometheus,
    path: "prometheus.aggregate_agent_stats_by"
  },
  "prometheus-collect-db-metrics": {
    name: "Prometheus Collect Database Metrics",
    type: "bool",
    description: "Include the statistics of the database in the metrics.",
    default: "false",
    yaml: "collect_db_metrics",
    group: prometheus,
    path: "prometheus.collect_db_metrics",
    unused: true
  },
  "pprof-enable": {
    name: "pprof Enable",
    type: "bool",
    description: "Serve profiles.",
    yaml: "enable",
    group: pprof,
    path: "pprof.enable",
    annotations: { external_workspace_proxies: "true" },
    unused: true
  },
  "pprof-address": {
    name: "pprof Address",
    type: "host:port",
    description: "The address to serve profiles on.",
    default: "127.0.0.1:6060",
    yaml: "address",
    group: pprof,
    path: "pprof.address",
    annotations: { external_workspace_proxies: "true" },
    unused: true
  },
  "oauth2-github-client-id": {
    name: "OAuth2 GitHub Client ID",
    type: "string",
    description: "This server's client id at GitHub; without one, GitHub logins are off.",
    yaml: "clientID",
    group: github,
    path: "oauth2.github.client_id"
  },
  "oauth2-github-client-secret": {
    name: "OAuth2 GitHub Client Secret",
    type: "string",
    description: "The client secret at GitHub; give it in the variable or in a file.",
    group: github,
    path: "oauth2.github.client_secret",
    secret: true
  },
  "oauth2-github-device-flow": {
    name: "OAuth2 GitHub Device Flow",
    type: "bool",
    description: "Log in with a code that the user enters at GitHub.",
    default: "false",
    yaml: "deviceFlow",
    group: github,
    path: "oauth2.github.device_flow"
  },
  "oauth2-github-default-provider-enable": {
    name: "OAuth2 GitHub Default Provider Enable",
    type: "bool",
    description: "Use the vendor's GitHub client where none is configured.",
    default: "true",
    yaml: "defaultProviderEnable",
    group: github,
    path: "oauth2.github.default_provider_enable",
    unused: true
  },
  "oauth2-github-allowed-orgs": {
    name: "OAuth2 GitHub Allowed Orgs",
    type: "string-array",
    description: "The GitHub organizations to admit.",
    yaml: "allowedOrgs",
    group: github,
    path: "oauth2.github.allowed_orgs"
  },
  "oauth2-github-allowed-teams": {
    name: "OAuth2 GitHub Allowed Teams",
    type: "string-array",
    description: "The GitHub teams to admit, each as organization/team.",
    yaml: "allowedTeams",
    group: github,
    path: "oauth2.github.allowed_teams"
  },
  "oauth2-github-allow-signups": {
    name: "OAuth2 GitHub Allow Signups",
    type: "bool",
    description: "Create accounts for new GitHub users.",
    yaml: "allowSignups",
    group: github,
    path: "oauth2.github.allow_signups"
  },
  "oauth2-github-allow-everyone": {
    name: "OAuth2 GitHub Allow Everyone",
    type: "bool",
    description: "Admit every GitHub user.",
    yaml: "allowEveryone",
    group: github,
    path: "oauth2.github.allow_everyone"
  },
  "oauth2-github-enterprise-base-url": {
    name: "OAuth2 GitHub Enterprise Base URL",
    type: "string",
    description: "The URL of an enterprise server in place of github.com.",
    yaml: "enterpriseBaseURL",
    group: github,
    path: "oauth2.github.enterprise_base_url"
  },
  "oidc-allow-signups": {
    name: "OIDC Allow Signups",
    type: "bool",
    description: "Create accounts for new users of the OpenID Connect provider.",
    default: "true",
    yaml: "allowSignups",
    group: oidc,
    path: "oidc.allow_signups"
  },
  "oidc-client-id": {
    name: "OIDC Client ID",
    type: "string",
    description: "This server's client id at the OpenID Connect provider.",
    yaml: "clientID",
    group: oidc,
    path: "oidc.client_id"
  },
  "oidc-client-secret": {
    name: "OIDC Client Secret",
    type: "string",
    description: "The client secret at the provider; give it in the variable or in a file.",
    group: oidc,
    path: "oidc.client_secret",
    secret: true
  },
  "oidc-client-key-file": {
    name: "OIDC Client Key File",
    type: "string",
    description: "The key that authenticates this server in place of a client secret.",
    yaml: "oidcClientKeyFile",
    group: oidc,
    path: "oidc.client_key_file",
    unused: true,
    refusal: "is not supported: the server would not authenticate with that key; use oidc-client-secret"
  },
  "oidc-client-cert-file": {
    name: "OIDC Client Cert File",
    type: "string",
    description: "The certificate of that key.",
    yaml: "oidcClientCertFile",
    group: oidc,
    path: "oidc.client_cert_file",
    unused: true,
    refusal: "is not supported: the server would not authenticate with that certificate; use oidc-client-secret"
  },
  "oidc-email-domain": {
    name: "OIDC Email Domain",
    type: "string-array",
    description: "The email domains to admit; default: all.",
    yaml: "emailDomain",
    group: oidc,
    path: "oidc.email_domain"
  },
  "oidc-issuer-url": {
    name: "OIDC Issuer URL",
    type: "string",
    description: "The OpenID Connect provider that users log in with.",
    yaml: "issuerURL",
    group: oidc,
    path: "oidc.issuer_url"
  },
  "oidc-scopes": {
    name: "OIDC Scopes",
    type: "string-array",
    description: "The scopes to request.",
    default: "openid,profile,email",
    yaml: "scopes",
    group: oidc,
    path: "oidc.scopes"
  },
  "oidc-ignore-email-verified": {
    name: "OIDC Ignore Email Verified",
    type: "bool",
    description: "Accept email addresses that the provider has not verified.",
    yaml: "ignoreEmailVerified",
    group: oidc,
    path: "oidc.ignore_email_verified"
  },
  "oidc-username-field": {
    name: "OIDC Username Field",
    type: "string",
    description: "The claim with the username.",
    default: "preferred_username",
    yaml: "usernameField",
    group: oidc,
    path: "oidc.username_field"
  },
  "oidc-name-field": {
    name: "OIDC Name Field",
    type: "string",
    description: "The claim with the full name.",
    default: "name",
    yaml: "nameField",
    group: oidc,
    path: "oidc.name_field"
  },
  "oidc-email-field": {
    name: "OIDC Email Field",
    type: "string",
    description: "The claim with the email address.",
    default: "email",
    yaml: "emailField",
    group: oidc,
    path: "oidc.email_field"
  },
  "oidc-auth-url-params": {
    name: "OIDC Auth URL Parameters",
    type: "struct",
    description: "Further parameters of the authorization request.",
    default: '{"access_type": "offline"}',
    structure: "texts",
    yaml: "authURLParams",
    group: oidc,
    path: "oidc.auth_url_params"
  },
  "oidc-ignore-userinfo": {
    name: "OIDC Ignore UserInfo",
    type: "bool",
    description: "Take claims from the ID token alone.",
    default: "false",
    yaml: "ignoreUserInfo",
    group: oidc,
    path: "oidc.ignore_user_info"
  },
  "oidc-access-token-claims": {
    name: "OIDC Access Token Claims",
    type: "bool",
    description: "Take claims from the access token.",
    default: "false",
    yaml: "accessTokenClaims",
    group: oidc,
    path: "oidc.source_user_info_from_access_token",
    hidden: true
  },
  "oidc-organization-field": {
    name: "OIDC Organization Field",
    type: "string",
    description: "The claim that memberships of organizations follow from.",
    yaml: "organizationField",
    group: oidc,
    path: "oidc.organization_field",
    hidden: true
  },
  "oidc-organization-assign-default": {
    name: "OIDC Assign Default Organization",
    type: "bool",
    description: "Make every user a member of the default organization.",
    default: "true",
    yaml: "organizationAssignDefault",
    group: oidc,
    path: "oidc.organization_assign_default",
    hidden: true
  },
  "oidc-organization-mapping": {
    name: "OIDC Organization Sync Mapping",
    type: "struct",
    description: "The organizations by value of the claim.",
    default: "{}",
    structure: "lists",
    yaml: "organizationMapping",
    group: oidc,
    path: "oidc.organization_mapping",
    hidden: true
  },
  "oidc-group-field": {
    name: "OIDC Group Field",
    type: "string",
    description: "The claim that groups follow from.",
    yaml: "groupField",
    group: oidc,
    path: "oidc.groups_field"
  },
  "oidc-group-mapping": {
    name: "OIDC Group Mapping",
    type: "struct",
    description: "The groups by value of the claim.",
    default: "{}",
    structure: "texts",
    yaml: "groupMapping",
    group: oidc,
    path: "oidc.group_mapping"
  },
  "oidc-group-auto-create": {
    name: "Enable OIDC Group Auto Create",
    type: "bool",
    description: "Create groups that do not exist.",
    default: "false",
    yaml: "enableGroupAutoCreate",
    group: oidc,
    path: "oidc.group_auto_create"
  },
  "oidc-group-regex-filter": {
    name: "OIDC Regex Group Filter",
    type: "regexp",
    description: "The values of the claim that count.",
    default: ".*",
    yaml: "groupRegexFilter",
    group: oidc,
    path: "oidc.group_regex_filter"
  },
  "oidc-allowed-groups": {
    name: "OIDC Allowed Groups",
    type: "string-array",
    description: "The groups to admit; default: all users.",
    yaml: "groupAllowed",
    group: oidc,
    path: "oidc.group_allow_list"
  },
  "oidc-user-role-field": {
    name: "OIDC User Role Field",
    type: "string",
    description: "The claim that site roles follow from.",
    yaml: "userRoleField",
    group: oidc,
    path: "oidc.user_role_field"
  },
  "oidc-user-role-mapping": {
    name: "OIDC User Role Mapping",
    type: "struct",
    description: "The site roles by value of the claim.",
    default: "{}",
    structure: "lists",
    yaml: "userRoleMapping",
    group: oidc,
    path: "oidc.user_role_mapping"
  },
  "oidc-user-role-default": {
    name: "OIDC User Role Default",
    type: "string-array",
    description: "The site roles of every user.",
    yaml: "userRoleDefault",
    group: oidc,
    path: "oidc.user_roles_default"
  },
  "oidc-sign-in-text": {
    name: "OpenID Connect sign in text",
    type: "string",
    description: "The provider's name on the login page.",
    default: "OpenID Connect",
    yaml: "signInText",
    group: oidc,
    path: "oidc.sign_in_text"
  },
  "oidc-icon-url": {
    name: "OpenID connect icon URL",
    type: "url",
    description: "The provider's icon on the login page.",
    yaml: "iconURL",
    group: oidc,
    path: "oidc.icon_url"
  },
  "oidc-signups-disabled-text": {
    name: "Signups disabled text",
    type: "string",
    description: "The message for new users while sign-ups are disabled.",
    yaml: "signupsDisabledText",
    group: oidc,
    path: "oidc.signups_disabled_text"
  },
  "dangerous-oidc-skip-issuer-checks": {
    name: "Skip OIDC issuer checks (not recommended)",
    type: "bool",
    description: "Accept tokens of another issuer.",
    yaml: "dangerousSkipIssuerChecks",
    group: oidc,
    path: "oidc.skip_issuer_checks"
  },
  "oidc-redirect-url": {
    name: "OIDC Redirect URL",
    type: "url",
    description: "The base URL of redirects; default: the access URL.",
    yaml: "oidc-redirect-url",
    group: oidc,
    path: "oidc.redirect_url"
  },
  "oidc-repair-links": {
    name: "OIDC Auto Repair Links",
    type: "bool",
    description: "Repair the links of users whose subject changed at the provider.",
    default: "true",
    yaml: "oidc-repair-links",
    group: oidc,
    path: "oidc.auto_repair_links",
    hidden: true,
    unused: true
  },
  "dangerous-oidc-email-fallback": {
    name: "OIDC Insecure Email Fallback (DANGEROUS)",
    type: "bool",
    description: "Match users by an email address that the provider has not verified.",
    yaml: "dangerousOidcEmailFallback",
    group: oidc,
    path: "oidc.email_fallback",
    hidden: true
  },
  "oidc-redirect-allowed-hosts": {
    name: "OIDC Redirect Allowed Hosts",
    type: "string-array",
    description: "The hosts for which redirects are built from the request.",
    yaml: "oidcRedirectAllowedHosts",
    group: oidc,
    path: "oidc.redirect_allowed_hosts",
    hidden: true
  },
  telemetry: {
    name: "Telemetry Enable",
    type: "bool",
    description: "Report about the use of the deployment.",
    default: "false",
    env: "TELEMETRY_ENABLE",
    yaml: "enable",
    group: telemetry,
    path: "telemetry.enable",
    unused: true
  },
  "telemetry-enable": {
    name: "Telemetry (backwards compatibility)",
    type: "bool",
    description: "Deprecated: use --telemetry.",
    default: "false",
    env: "TELEMETRY",
    group: telemetry,
    path: "telemetry.enable",
    hidden: true,
    useInstead: ["telemetry"],
    unused: true
  },
  "telemetry-url": {
    name: "Telemetry URL",
    type: "url",
    description: "The address to report to.",
    yaml: "url",
    group: telemetry,
    path: "telemetry.url",
    hidden: true,
    unused: true
  },
  trace: {
    name: "Trace Enable",
    type: "bool",
    description: "Send traces to the OpenTelemetry receiver that OTEL_EXPORTER_OTLP_ENDPOINT names.",
    env: "TRACE_ENABLE",
    yaml: "enable",
    group: tracing,
    path: "trace.enable",
    annotations: { external_workspace_proxies: "true" }
  },
  "trace-honeycomb-api-key": {
    name: "Trace Honeycomb API Key",
    type: "string",
    description: "The key of Honeycomb.io, to which traces are sent.",
    group: tracing,
    path: "trace.honeycomb_api_key",
    secret: true,
    annotations: { external_workspace_proxies: "true" }
  },
  "trace-logs": {
    name: "Capture Logs in Traces",
    type: "bool",
    description: "Include logs in traces.",
    yaml: "captureLogs",
    group: tracing,
    path: "trace.capture_logs",
    annotations: { external_workspace_proxies: "true" },
    unused: true
  },
  "trace-datadog": {
    name: "Send Go runtime traces to DataDog",
    type: "bool",
    description: "Send traces to the local DataDog agent.",
    default: "false",
    yaml: "dataDog",
    group: tracing,
    path: "trace.data_dog",
    hidden: true,
    annotations: { external_workspace_proxies: "true" },
    unused: true
  },
  "provisioner-daemons": {
    name: "Provisioner Daemons",
    type: "int",
    description: "The number of concurrent provisioner jobs; 0 leaves jobs to other servers of the database.",
    default: "3",
    yaml: "daemons",
    group: provisioning,
    path: "provisioner.daemons"
  },
  "provisioner-types": {
    name: "Provisioner Daemon Types",
    type: "string-array",
    description: "The types of jobs that the built-in daemons take.",
    default: "terraform",
    each: ["terraform", "echo"],
    yaml: "daemonTypes",
    group: provisioning,
    path: "provisioner.daemon_types",
    hidden: true,
    unused: true
  },
  "provisioner-daemon-poll-interval": {
    name: "Poll Interval",
    type: "duration",
    description: "How often daemons ask for jobs.",
    default: "1s",
    yaml: "daemonPollInterval",
    group: provisioning,
    path: "provisioner.daemon_poll_interval",
    unused: true
  },
  "provisioner-daemon-poll-jitter": {
    name: "Poll Jitter",
    type: "duration",
    description: "The random part of that interval.",
    default: "100ms",
    yaml: "daemonPollJitter",
    group: provisioning,
    path: "provisioner.daemon_poll_jitter",
    unused: true
  },
  "provisioner-force-cancel-interval": {
    name: "Force Cancel Interval",
    type: "duration",
    description: "How long a canceled job may take to end before it is failed.",
    default: "10m0s",
    yaml: "forceCancelInterval",
    group: provisioning,
    path: "provisioner.force_cancel_interval"
  },
  "provisioner-daemon-psk": {
    name: "Provisioner Daemon Pre-shared Key (PSK)",
    type: "string",
    description: "The key that daemons on other machines share with the server.",
    group: provisioning,
    path: "provisioner.daemon_psk",
    secret: true
  },
  "dangerous-disable-rate-limits": {
    name: "Disable All Rate Limits",
    type: "bool",
    description: "Disable rate limits, for tests and measurements.",
    path: "rate_limit.disable_all",
    hidden: true,
    annotations: { external_workspace_proxies: "true" }
  },
  "api-rate-limit": {
    name: "API Rate Limit",
    type: "int",
    description: "Calls per minute of one caller to one path; negative is no limit.",
    default: "512",
    path: "rate_limit.api",
    hidden: true,
    annotations: { external_workspace_proxies: "true" }
  },
  verbose: {
    name: "Verbose",
    type: "bool",
    description: "Log debug messages. Deprecated: use --log-filter.",
    shorthand: "v",
    yaml: "verbose",
    group: logging,
    path: "verbose",
    omittedWhenZero: true,
    hidden: true,
    annotations: { external_workspace_proxies: "true" },
    useInstead: ["log-filter"]
  },
  "log-filter": {
    name: "Log Filter",
    type: "string-array",
    description: "Expressions that select debug logs.",
    shorthand: "l",
    yaml: "filter",
    group: logging,
    path: "logging.log_filter",
    unused: true
  },
  "log-human": {
    name: "Human Log Location",
    type: "string",
    description: "The file for logs as text.",
    default: "/dev/stderr",
    env: "LOGGING_HUMAN",
    yaml: "humanPath",
    group: logging,
    path: "logging.human",
    annotations: { external_workspace_proxies: "true" },
    unused: true
  },
  "log-json": {
    name: "JSON Log Location",
    type: "string",
    description: "The file for logs as JSON lines, in place of logs as text.",
    env: "LOGGING_JSON",
    yaml: "jsonPath",
    group: logging,
    path: "logging.json",
    annotations: { external_workspace_proxies: "true" }
  },
  "log-stackdriver": {
    name: "Stackdriver Log Location",
    type: "string",
    description: "The file for logs in the form of Stackdriver.",
    env: "LOGGING_STACKDRIVER",
    yaml: "stackdriverPath",
    group: logging,
    path: "logging.stackdriver",
    annotations: { external_workspace_proxies: "true" },
    unused: true
  },
  "enable-terraform-debug-mode": {
    name: "Enable Terraform debug mode",
    type: "bool",
    description: "Allow builds to ask their engine for debug output.",
    default: "false",
    yaml: "enableTerraformDebugMode",
    group: logging,
    path: "enable_terraform_debug_mode",
    omittedWhenZero: true
  },
  "additional-csp-policy": {
    name: "Additional CSP Policy",
    type: "string-array",
    description: "Additions to the pages' Content-Security-Policy, each a directive and its values.",
    yaml: "additionalCSPPolicy",
    group: http,
    path: "additional_csp_policy",
    omittedWhenZero: true
  },
  "dangerous-allow-cors-requests": {
    name: "DANGEROUS: Allow all CORS requests",
    type: "bool",
    description: "Allow scripts of any origin to read answers.",
    group: dangerous,
    path: "dangerous.allow_all_cors",
    hidden: true,
    annotations: { external_workspace_proxies: "true" }
  },
  "dangerous-allow-path-app-sharing": {
    name: "DANGEROUS: Allow Path App Sharing",
    type: "bool",
    description: "Allow sharing of workspace apps that are served by path.",
    group: dangerous,
    path: "dangerous.allow_path_app_sharing"
  },
  "dangerous-allow-path-app-site-owner-access": {
    name: "DANGEROUS: Allow Site Owners to Access Path Apps",
    type: "bool",
    description: "Allow owners of the site to open other users' apps that are served by path.",
    group: dangerous,
    path: "dangerous.allow_path_app_site_owner_access"
  },
  experiments: {
    name: "Experiments",
    type: "string-array",
    description: "The experiments that are on; * is all that are safe.",
    yaml: "experiments",
    path: "experiments",
    omittedWhenZero: true,
    annotations: { external_workspace_proxies: "true" }
  },
  "update-check": {
    name: "Update Check",
    type: "bool",
    description: "Look for newer versions.",
    default: "true",
    yaml: "updateCheck",
    path: "update_check",
    omittedWhenZero: true
  },
  "max-token-lifetime": {
    name: "Max Token Lifetime",
    type: "duration",
    description: "The longest lifetime of a token.",
    default: "876600h0m0s",
    yaml: "maxTokenLifetime",
    group: http,
    path: "session_lifetime.max_token_lifetime",
    omittedWhenZero: true
  },
  "max-admin-token-lifetime": {
    name: "Maximum Admin Token Lifetime",
    type: "duration",
    description: "The longest lifetime of a site owner's token.",
    default: "168h0m0s",
    yaml: "maxAdminTokenLifetime",
    group: http,
    path: "session_lifetime.max_admin_token_lifetime",
    omittedWhenZero: true
  },
  "default-token-lifetime": {
    name: "Default Token Lifetime",
    type: "duration",
    description: "The lifetime of tokens that are made without one.",
    default: "168h0m0s",
    yaml: "defaultTokenLifetime",
    path: "session_lifetime.default_token_lifetime",
    omittedWhenZero: true
  },
  "default-oauth-refresh-lifetime": {
    name: "Default OAuth Refresh Lifetime",
    type: "duration",
    description: "The lifetime of OAuth2 refresh tokens; longer than a session.",
    default: "720h0m0s",
    yaml: "defaultOAuthRefreshLifetime",
    path: "session_lifetime.refresh_default_duration",
    omittedWhenZero: true
  },
  "swagger-enable": {
    name: "Enable swagger endpoint",
    type: "bool",
    description: "Serve the interface's description at /swagger/.",
    yaml: "enableSwagger",
    path: "swagger.enable"
  },
  "proxy-trusted-headers": {
    name: "Proxy Trusted Headers",
    type: "string-array",
    headers: true,
    description: "The headers in which trusted proxies name the client's address.",
    yaml: "proxyTrustedHeaders",
    group: networking,
    path: "proxy_trusted_headers",
    omittedWhenZero: true,
    annotations: { external_workspace_proxies: "true" }
  },
  "proxy-trusted-origins": {
    name: "Proxy Trusted Origins",
    type: "string-array",
    description: "The networks whose proxies are trusted, in CIDR notation.",
    yaml: "proxyTrustedOrigins",
    group: networking,
    path: "proxy_trusted_origins",
    omittedWhenZero: true,
    annotations: { external_workspace_proxies: "true" }
  },
  "cache-dir": {
    name: "Cache Directory",
    type: "string",
    description: "The directory of temporary files.",
    default: "~/.cache/{brand}",
    env: "CACHE_DIRECTORY",
    yaml: "cacheDir",
    path: "cache_directory",
    omittedWhenZero: true,
    unused: true
  },
  ephemeral: {
    name: "Ephemeral Deployment",
    type: "bool",
    description: "Keep nothing after the server ends.",
    yaml: "ephemeralDeployment",
    path: "ephemeral_deployment",
    omittedWhenZero: true,
    hidden: true,
    unused: true,
    refusal: "is not supported: data would stay after the end; use --database sqlite::memory: and a temporary directory of workspaces"
  },
  "postgres-url": {
    name: "Postgres Connection URL",
    type: "string",
    description: "The URL of a PostgreSQL database.",
    env: "PG_CONNECTION_URL",
    path: "pg_connection_url",
    omittedWhenZero: true,
    secret: true
  },
  "postgres-auth": {
    name: "Postgres Auth",
    type: "enum",
    description: "How the server logs in to PostgreSQL.",
    default: "password",
    choices: ["password", "awsiamrds"],
    env: "PG_AUTH",
    yaml: "pgAuth",
    path: "pg_auth",
    omittedWhenZero: true,
    unused: true,
    refusal: "is not supported: the server would log in to PostgreSQL with the password of the URL"
  },
  "postgres-conn-max-open": {
    name: "Postgres Connection Max Open",
    type: "int",
    description: "The largest number of connections to PostgreSQL.",
    default: "10",
    least: 1,
    env: "PG_CONN_MAX_OPEN",
    yaml: "pgConnMaxOpen",
    path: "pg_conn_max_open",
    omittedWhenZero: true,
    unused: true
  },
  "postgres-conn-max-idle": {
    name: "Postgres Connection Max Idle",
    type: "string",
    description: "The number of idle connections to keep; auto is a third of the open ones.",
    default: "auto",
    env: "PG_CONN_MAX_IDLE",
    yaml: "pgConnMaxIdle",
    path: "pg_conn_max_idle",
    omittedWhenZero: true,
    unused: true
  },
  "secure-auth-cookie": {
    name: "Secure Auth Cookie",
    type: "bool",
    description: "Send cookies over https only; default: whether the access URL is https.",
    yaml: "secureAuthCookie",
    group: networking,
    path: "http_cookies.secure_auth_cookie",
    omittedWhenZero: true,
    annotations: { external_workspace_proxies: "true" }
  },
  "samesite-auth-cookie": {
    name: "SameSite Auth Cookie",
    type: "enum",
    description: "The SameSite attribute of cookies.",
    default: "lax",
    choices: ["lax", "none"],
    yaml: "sameSiteAuthCookie",
    group: networking,
    path: "http_cookies.same_site",
    omittedWhenZero: true,
    annotations: { external_workspace_proxies: "true" }
  },
  "host-prefix-cookie": {
    name: "__Host Prefix Cookies",
    type: "bool",
    description: "Name the session cookie with the prefix __Host-.",
    default: "false",
    yaml: "hostPrefixCookie",
    group: networking,
    path: "http_cookies.host_prefix",
    omittedWhenZero: true,
    annotations: { external_workspace_proxies: "true" }
  },
  "terms-of-service-url": {
    name: "Terms of Service URL",
    type: "string",
    description: "The terms that users accept by logging in.",
    yaml: "termsOfServiceURL",
    path: "terms_of_service_url",
    omittedWhenZero: true
  },
  "strict-transport-security": {
    name: "Strict-Transport-Security",
    type: "int",
    description: "Seconds of Strict-Transport-Security on pages; 0 sends no header.",
    unit: "seconds",
    default: "0",
    yaml: "strictTransportSecurity",
    group: tls,
    path: "strict_transport_security",
    omittedWhenZero: true,
    annotations: { external_workspace_proxies: "true" }
  },
  "strict-transport-security-options": {
    name: "Strict-Transport-Security Options",
    type: "string-array",
    description: "Further fields of that header: includeSubDomains, preload.",
    yaml: "strictTransportSecurityOptions",
    group: tls,
    path: "strict_transport_security_options",
    omittedWhenZero: true,
    annotations: { external_workspace_proxies: "true" }
  },
  "ssh-keygen-algorithm": {
    name: "SSH Keygen Algorithm",
    type: "string",
    description: "The algorithm of users' SSH keys for git.",
    default: "ed25519",
    yaml: "sshKeygenAlgorithm",
    path: "ssh_keygen_algorithm",
    omittedWhenZero: true
  },
  "metrics-cache-refresh-interval": {
    name: "Metrics Cache Refresh Interval",
    type: "duration",
    description: "How often the values behind metrics are computed.",
    default: "4h0m0s",
    path: "metrics_cache_refresh_interval",
    omittedWhenZero: true,
    hidden: true,
    unused: true
  },
  "agent-stats-refresh-interval": {
    name: "Agent Stat Refresh Interval",
    type: "duration",
    description: "How often agents report statistics.",
    default: "30s",
    path: "agent_stat_refresh_interval",
    omittedWhenZero: true,
    hidden: true
  },
  "agent-fallback-troubleshooting-url": {
    name: "Agent Fallback Troubleshooting URL",
    type: "url",
    description: "The page that explains why an agent does not connect, for templates without their own.",
    yaml: "agentFallbackTroubleshootingURL",
    path: "agent_fallback_troubleshooting_url",
    hidden: true
  },
  "browser-only": {
    name: "Browser Only",
    type: "bool",
    description: "Refuse connections of desktop clients.",
    yaml: "browserOnly",
    group: networking,
    path: "browser_only",
    omittedWhenZero: true,
    annotations: { enterprise: "true" }
  },
  "cluster-host": {
    name: "Cluster Host",
    type: "string",
    description: "The address at which other replicas reach this one.",
    yaml: "clusterHost",
    group: cluster,
    path: "cluster.host",
    annotations: { enterprise: "true" },
    unused: true
  },
  "scim-auth-header": {
    name: "SCIM API Key",
    type: "string",
    description: "The credential of identity providers that manage users at /scim/v2.",
    path: "scim_api_key",
    omittedWhenZero: true,
    secret: true,
    annotations: { enterprise: "true" }
  },
  "scim-use-legacy": {
    name: "SCIM Use Legacy",
    type: "bool",
    description: "Serve SCIM as older releases did.",
    default: "true",
    yaml: "scimUseLegacy",
    path: "scim_use_legacy",
    omittedWhenZero: true,
    annotations: { enterprise: "true" },
    unused: true
  },
  "external-token-encryption-keys": {
    name: "External Token Encryption Keys",
    type: "string-array",
    description: "Keys that encrypt secrets at rest, each 32 bytes in base64: the first one encrypts, all of them decrypt.",
    path: "external_token_encryption_keys",
    omittedWhenZero: true,
    secret: true,
    annotations: { enterprise: "true" }
  },
  "disable-path-apps": {
    name: "Disable Path Apps",
    type: "bool",
    description: "Refuse workspace apps that are served by path.",
    yaml: "disablePathApps",
    path: "disable_path_apps",
    omittedWhenZero: true,
    annotations: { external_workspace_proxies: "true" }
  },
  "disable-owner-workspace-access": {
    name: "Disable Owner Workspace Access",
    type: "bool",
    description: "Refuse site owners the use of other users' workspaces.",
    yaml: "disableOwnerWorkspaceAccess",
    path: "disable_owner_workspace_exec",
    omittedWhenZero: true,
    annotations: { external_workspace_proxies: "true" }
  },
  "disable-workspace-sharing": {
    name: "Disable Workspace Sharing",
    type: "bool",
    description: "Refuse sharing of workspaces.",
    yaml: "disableWorkspaceSharing",
    path: "disable_workspace_sharing",
    omittedWhenZero: true
  },
  "disable-chat-sharing": {
    name: "Disable Chat Sharing",
    type: "bool",
    description: "Refuse sharing of chats.",
    yaml: "disableChatSharing",
    path: "disable_chat_sharing",
    omittedWhenZero: true
  },
  "session-duration": {
    name: "Session Duration",
    type: "duration",
    description: "How long a session lasts without use.",
    default: "24h0m0s",
    yaml: "sessionDuration",
    group: http,
    path: "session_lifetime.default_duration"
  },
  "disable-session-expiry-refresh": {
    name: "Disable Session Expiry Refresh",
    type: "bool",
    description: "End sessions at the time set at login.",
    yaml: "disableSessionExpiryRefresh",
    group: http,
    path: "session_lifetime.disable_expiry_refresh",
    omittedWhenZero: true
  },
  "disable-password-auth": {
    name: "Disable Password Authentication",
    type: "bool",
    description: "Refuse password logins, except of site owners.",
    yaml: "disablePasswordAuth",
    group: http,
    path: "disable_password_auth",
    omittedWhenZero: true
  },
  config: {
    name: "Config Path",
    type: "yaml-config-path",
    description: "A YAML file with options.",
    shorthand: "c",
    env: "CONFIG_PATH",
    group: config,
    path: "config",
    omittedWhenZero: true
  },
  "ssh-hostname-prefix": {
    name: "SSH Host Prefix",
    type: "string",
    description: "The host name prefix under which clients reach workspaces. Deprecated: use --workspace-hostname-suffix.",
    default: "{brand}.",
    yaml: "sshHostnamePrefix",
    group: client,
    path: "config_ssh.DeploymentName",
    hidden: true,
    useInstead: ["workspace-hostname-suffix"]
  },
  "workspace-hostname-suffix": {
    name: "Workspace Hostname Suffix",
    type: "string",
    description: "The host name suffix under which clients reach workspaces.",
    default: "{brand}",
    yaml: "workspaceHostnameSuffix",
    group: client,
    path: "workspace_hostname_suffix",
    omittedWhenZero: true
  },
  "ssh-config-options": {
    name: "SSH Config Options",
    type: "string-array",
    description: "Options for the SSH configuration of clients, each as key=value.",
    yaml: "sshConfigOptions",
    group: client,
    path: "config_ssh.SSHConfigOptions"
  },
  "cli-upgrade-message": {
    name: "CLI Upgrade Message",
    type: "string",
    description: "What clients of another version are told to do.",
    yaml: "cliUpgradeMessage",
    group: client,
    path: "cli_upgrade_message",
    omittedWhenZero: true
  },
  "write-config": {
    name: "Write Config",
    type: "bool",
    description: "Print the options in force as YAML, and end.",
    env: null,
    group: config,
    path: "write_config",
    omittedWhenZero: true,
    annotations: { external_workspace_proxies: "true" }
  },
  "support-links": {
    name: "Support Links",
    type: "struct",
    description: "The links of the support menu.",
    structure: "links",
    yaml: "supportLinks",
    path: "support.links"
  },
  "external-auth-providers": {
    name: "External Auth Providers",
    type: "struct",
    description: "The providers whose tokens workspaces use, such as git servers.",
    structure: "providers",
    env: null,
    yaml: "externalAuthProviders",
    path: "external_auth",
    hidden: true
  },
  "external-auth-github-default-provider-enable": {
    name: "External Auth GitHub Default Provider Enable",
    type: "bool",
    description: "Use the vendor's GitHub client for git where none is configured.",
    default: "true",
    yaml: "externalAuthGithubDefaultProviderEnable",
    path: "external_auth_github_default_provider_enable",
    omittedWhenZero: true,
    unused: true
  },
  "wg-tunnel-host": {
    name: "Custom wgtunnel Host",
    type: "string",
    description: "The server of a public tunnel.",
    env: "WGTUNNEL_HOST",
    yaml: "wgtunnelHost",
    path: "wgtunnel_host",
    omittedWhenZero: true,
    hidden: true,
    unused: true
  },
  "proxy-health-interval": {
    name: "Proxy Health Check Interval",
    type: "duration",
    description: "How often workspace proxies are checked.",
    default: "1m0s",
    yaml: "proxyHealthInterval",
    group: http,
    path: "proxy_health_status_interval",
    omittedWhenZero: true
  },
  "default-quiet-hours-schedule": {
    name: "Default Quiet Hours Schedule",
    type: "string",
    description: "When required stops happen for users without a schedule of their own.",
    default: "CRON_TZ=UTC 0 0 * * *",
    env: "QUIET_HOURS_DEFAULT_SCHEDULE",
    yaml: "defaultQuietHoursSchedule",
    group: userQuietHoursSchedule,
    path: "user_quiet_hours_schedule.default_schedule"
  },
  "allow-custom-quiet-hours": {
    name: "Allow Custom Quiet Hours",
    type: "bool",
    description: "Allow users a schedule of their own.",
    default: "true",
    yaml: "allowCustomQuietHours",
    group: userQuietHoursSchedule,
    path: "user_quiet_hours_schedule.allow_user_custom"
  },
  "web-terminal-renderer": {
    name: "Web Terminal Renderer",
    type: "string",
    description: "How the web terminal draws.",
    default: "canvas",
    yaml: "webTerminalRenderer",
    group: client,
    path: "web_terminal_renderer",
    omittedWhenZero: true,
    unused: true
  },
  "allow-workspace-renames": {
    name: "Allow Workspace Renames",
    type: "bool",
    description: "Allow renaming workspaces, although templates may depend on the name.",
    default: "false",
    yaml: "allowWorkspaceRenames",
    path: "allow_workspace_renames",
    omittedWhenZero: true
  },
  "health-check-refresh": {
    name: "Health Check Refresh",
    type: "duration",
    description: "How long a health report is kept.",
    default: "10m0s",
    yaml: "refresh",
    group: healthCheck,
    path: "healthcheck.refresh"
  },
  "health-check-threshold-database": {
    name: "Health Check Threshold: Database",
    type: "duration",
    description: "The latency above which the database is reported as slow.",
    default: "15ms",
    yaml: "thresholdDatabase",
    group: healthCheck,
    path: "healthcheck.threshold_database"
  },
  "email-from": {
    name: "Email: From Address",
    type: "string",
    description: "The sender of mail.",
    yaml: "from",
    group: email,
    path: "notifications.email.from"
  },
  "email-smarthost": {
    name: "Email: Smarthost",
    type: "string",
    description: "The server that sends mail, as host:port.",
    yaml: "smarthost",
    group: email,
    path: "notifications.email.smarthost"
  },
  "email-hello": {
    name: "Email: Hello",
    type: "string",
    description: "This host's name in the greeting of the mail server.",
    default: "localhost",
    yaml: "hello",
    group: email,
    path: "notifications.email.hello"
  },
  "email-force-tls": {
    name: "Email: Force TLS",
    type: "bool",
    description: "Speak TLS to the mail server from the first byte.",
    default: "false",
    yaml: "forceTLS",
    group: email,
    path: "notifications.email.force_tls"
  },
  "email-auth-identity": {
    name: "Email Auth: Identity",
    type: "string",
    description: "The authorization identity for the mail server.",
    yaml: "identity",
    group: emailAuthentication,
    path: "notifications.email.auth.identity"
  },
  "email-auth-username": {
    name: "Email Auth: Username",
    type: "string",
    description: "The username for the mail server.",
    yaml: "username",
    group: emailAuthentication,
    path: "notifications.email.auth.username"
  },
  "email-auth-password": {
    name: "Email Auth: Password",
    type: "string",
    description: "The password for the mail server; give it in the variable or in a file.",
    group: emailAuthentication,
    path: "notifications.email.auth.password",
    secret: true
  },
  "email-auth-password-file": {
    name: "Email Auth: Password File",
    type: "string",
    description: "A file with the password for the mail server.",
    yaml: "passwordFile",
    group: emailAuthentication,
    path: "notifications.email.auth.password_file"
  },
  "email-tls-starttls": {
    name: "Email TLS: StartTLS",
    type: "bool",
    description: "Upgrade connections to the mail server with STARTTLS, or send nothing.",
    yaml: "startTLS",
    group: emailTLS,
    path: "notifications.email.tls.start_tls"
  },
  "email-tls-server-name": {
    name: "Email TLS: Server Name",
    type: "string",
    description: "The name in the mail server's certificate; default: its host.",
    env: "EMAIL_TLS_SERVERNAME",
    yaml: "serverName",
    group: emailTLS,
    path: "notifications.email.tls.server_name"
  },
  "email-tls-skip-verify": {
    name: "Email TLS: Skip Certificate Verification (Insecure)",
    type: "bool",
    description: "Do not check the mail server's certificate.",
    env: "EMAIL_TLS_SKIPVERIFY",
    yaml: "insecureSkipVerify",
    group: emailTLS,
    path: "notifications.email.tls.insecure_skip_verify"
  },
  "email-tls-ca-cert-file": {
    name: "Email TLS: Certificate Authority File",
    type: "string",
    description: "The authorities that the mail server's certificate is checked against.",
    env: "EMAIL_TLS_CACERTFILE",
    yaml: "caCertFile",
    group: emailTLS,
    path: "notifications.email.tls.ca_file"
  },
  "email-tls-cert-file": {
    name: "Email TLS: Certificate File",
    type: "string",
    description: "The certificate to show to the mail server.",
    env: "EMAIL_TLS_CERTFILE",
    yaml: "certFile",
    group: emailTLS,
    path: "notifications.email.tls.cert_file"
  },
  "email-tls-cert-key-file": {
    name: "Email TLS: Certificate Key File",
    type: "string",
    description: "The key of that certificate.",
    env: "EMAIL_TLS_CERTKEYFILE",
    yaml: "certKeyFile",
    group: emailTLS,
    path: "notifications.email.tls.key_file"
  },
  "notifications-method": {
    name: "Notifications: Method",
    type: "string",
    description: "How notifications are sent.",
    default: "smtp",
    yaml: "method",
    group: notifications,
    path: "notifications.method"
  },
  "notifications-dispatch-timeout": {
    name: "Notifications: Dispatch Timeout",
    type: "duration",
    description: "How long sending one notification may take.",
    default: "1m0s",
    yaml: "dispatchTimeout",
    group: notifications,
    path: "notifications.dispatch_timeout"
  },
  "notifications-email-from": {
    name: "Notifications: Email: From Address",
    type: "string",
    description: "Deprecated: use --email-from.",
    yaml: "from",
    group: notificationsEmail,
    path: "notifications.email.from",
    useInstead: ["email-from"]
  },
  "notifications-email-smarthost": {
    name: "Notifications: Email: Smarthost",
    type: "string",
    description: "Deprecated: use --email-smarthost.",
    yaml: "smarthost",
    group: notificationsEmail,
    path: "notifications.email.smarthost",
    useInstead: ["email-smarthost"]
  },
  "notifications-email-hello": {
    name: "Notifications: Email: Hello",
    type: "string",
    description: "Deprecated: use --email-hello.",
    yaml: "hello",
    group: notificationsEmail,
    path: "notifications.email.hello",
    useInstead: ["email-hello"]
  },
  "notifications-email-force-tls": {
    name: "Notifications: Email: Force TLS",
    type: "bool",
    description: "Deprecated: use --email-force-tls.",
    yaml: "forceTLS",
    group: notificationsEmail,
    path: "notifications.email.force_tls",
    useInstead: ["email-force-tls"]
  },
  "notifications-email-auth-identity": {
    name: "Notifications: Email Auth: Identity",
    type: "string",
    description: "Deprecated: use --email-auth-identity.",
    yaml: "identity",
    group: notificationsEmailAuthentication,
    path: "notifications.email.auth.identity",
    useInstead: ["email-auth-identity"]
  },
  "notifications-email-auth-username": {
    name: "Notifications: Email Auth: Username",
    type: "string",
    description: "Deprecated: use --email-auth-username.",
    yaml: "username",
    group: notificationsEmailAuthentication,
    path: "notifications.email.auth.username",
    useInstead: ["email-auth-username"]
  },
  "notifications-email-auth-password": {
    name: "Notifications: Email Auth: Password",
    type: "string",
    description: "Deprecated: use --email-auth-password.",
    group: notificationsEmailAuthentication,
    path: "notifications.email.auth.password",
    secret: true,
    useInstead: ["email-auth-password"]
  },
  "notifications-email-auth-password-file": {
    name: "Notifications: Email Auth: Password File",
    type: "string",
    description: "Deprecated: use --email-auth-password-file.",
    yaml: "passwordFile",
    group: notificationsEmailAuthentication,
    path: "notifications.email.auth.password_file",
    useInstead: ["email-auth-password-file"]
  },
  "notifications-email-tls-starttls": {
    name: "Notifications: Email TLS: StartTLS",
    type: "bool",
    description: "Deprecated: use --email-tls-starttls.",
    yaml: "startTLS",
    group: notificationsEmailTLS,
    path: "notifications.email.tls.start_tls",
    useInstead: ["email-tls-starttls"]
  },
  "notifications-email-tls-server-name": {
    name: "Notifications: Email TLS: Server Name",
    type: "string",
    description: "Deprecated: use --email-tls-server-name.",
    env: "NOTIFICATIONS_EMAIL_TLS_SERVERNAME",
    yaml: "serverName",
    group: notificationsEmailTLS,
    path: "notifications.email.tls.server_name",
    useInstead: ["email-tls-server-name"]
  },
  "notifications-email-tls-skip-verify": {
    name: "Notifications: Email TLS: Skip Certificate Verification (Insecure)",
    type: "bool",
    description: "Deprecated: use --email-tls-skip-verify.",
    env: "NOTIFICATIONS_EMAIL_TLS_SKIPVERIFY",
    yaml: "insecureSkipVerify",
    group: notificationsEmailTLS,
    path: "notifications.email.tls.insecure_skip_verify",
    useInstead: ["email-tls-skip-verify"]
  },
  "notifications-email-tls-ca-cert-file": {
    name: "Notifications: Email TLS: Certificate Authority File",
    type: "string",
    description: "Deprecated: use --email-tls-ca-cert-file.",
    env: "NOTIFICATIONS_EMAIL_TLS_CACERTFILE",
    yaml: "caCertFile",
    group: notificationsEmailTLS,
    path: "notifications.email.tls.ca_file",
    useInstead: ["email-tls-ca-cert-file"]
  },
  "notifications-email-tls-cert-file": {
    name: "Notifications: Email TLS: Certificate File",
    type: "string",
    description: "Deprecated: use --email-tls-cert-file.",
    env: "NOTIFICATIONS_EMAIL_TLS_CERTFILE",
    yaml: "certFile",
    group: notificationsEmailTLS,
    path: "notifications.email.tls.cert_file",
    useInstead: ["email-tls-cert-file"]
  },
  "notifications-email-tls-cert-key-file": {
    name: "Notifications: Email TLS: Certificate Key File",
    type: "string",
    description: "Deprecated: use --email-tls-cert-key-file.",
    env: "NOTIFICATIONS_EMAIL_TLS_CERTKEYFILE",
    yaml: "certKeyFile",
    group: notificationsEmailTLS,
    path: "notifications.email.tls.key_file",
    useInstead: ["email-tls-cert-key-file"]
  },
  "notifications-webhook-endpoint": {
    name: "Notifications: Webhook: Endpoint",
    type: "url",
    description: "The address that notifications are posted to.",
    yaml: "endpoint",
    group: webhook,
    path: "notifications.webhook.endpoint"
  },
  "notifications-inbox-enabled": {
    name: "Notifications: Inbox: Enabled",
    type: "bool",
    description: "Keep notifications in users' inboxes.",
    default: "true",
    yaml: "enabled",
    group: inbox,
    path: "notifications.inbox.enabled"
  },
  "notifications-max-send-attempts": {
    name: "Notifications: Max Send Attempts",
    type: "int",
    description: "How often sending a notification is tried.",
    default: "5",
    yaml: "maxSendAttempts",
    group: notifications,
    path: "notifications.max_send_attempts"
  },
  "notifications-retry-interval": {
    name: "Notifications: Retry Interval",
    type: "duration",
    description: "The time between two attempts.",
    default: "5m0s",
    yaml: "retryInterval",
    group: notifications,
    path: "notifications.retry_interval",
    hidden: true
  },
  "notifications-store-sync-interval": {
    name: "Notifications: Store Sync Interval",
    type: "duration",
    description: "How often results of sending are stored.",
    default: "2s",
    yaml: "storeSyncInterval",
    group: notifications,
    path: "notifications.sync_interval",
    hidden: true,
    unused: true
  },
  "notifications-store-sync-buffer-size": {
    name: "Notifications: Store Sync Buffer Size",
    type: "int",
    description: "The number of results to store at once.",
    default: "50",
    yaml: "storeSyncBufferSize",
    group: notifications,
    path: "notifications.sync_buffer_size",
    hidden: true,
    unused: true
  },
  "notifications-lease-period": {
    name: "Notifications: Lease Period",
    type: "duration",
    description: "How long a process keeps the notifications it took.",
    default: "2m0s",
    yaml: "leasePeriod",
    group: notifications,
    path: "notifications.lease_period",
    hidden: true
  },
  "notifications-lease-count": {
    name: "Notifications: Lease Count",
    type: "int",
    description: "The number of notifications to take at once.",
    default: "20",
    yaml: "leaseCount",
    group: notifications,
    path: "notifications.lease_count",
    hidden: true
  },
  "notifications-fetch-interval": {
    name: "Notifications: Fetch Interval",
    type: "duration",
    description: "How often notifications are taken.",
    default: "15s",
    yaml: "fetchInterval",
    group: notifications,
    path: "notifications.fetch_interval",
    hidden: true
  },
  "workspace-prebuilds-reconciliation-interval": {
    name: "Reconciliation Interval",
    type: "duration",
    description: "How often the number of prebuilt workspaces is corrected.",
    default: "1m0s",
    yaml: "reconciliation_interval",
    group: workspacePrebuilds,
    path: "workspace_prebuilds.reconciliation_interval"
  },
  "workspace-prebuilds-reconciliation-backoff-interval": {
    name: "Reconciliation Backoff Interval",
    type: "duration",
    description: "The additional wait per failed prebuild.",
    default: "1m0s",
    yaml: "reconciliation_backoff_interval",
    group: workspacePrebuilds,
    path: "workspace_prebuilds.reconciliation_backoff_interval",
    hidden: true
  },
  "workspace-prebuilds-reconciliation-backoff-lookback-period": {
    name: "Reconciliation Backoff Lookback Period",
    type: "duration",
    description: "The time in which failed prebuilds count.",
    default: "1h0m0s",
    yaml: "reconciliation_backoff_lookback_period",
    group: workspacePrebuilds,
    path: "workspace_prebuilds.reconciliation_backoff_lookback",
    hidden: true
  },
  "workspace-prebuilds-failure-hard-limit": {
    name: "Failure Hard Limit",
    type: "int",
    description: "The number of failures in a row after which a preset is given up; 0 is no limit.",
    default: "3",
    yaml: "failure_hard_limit",
    group: workspacePrebuilds,
    path: "workspace_prebuilds.failure_hard_limit",
    hidden: true
  },
  "hide-ai-tasks": {
    name: "Hide AI Tasks",
    type: "bool",
    description: "Hide tasks from the pages.",
    default: "false",
    yaml: "hideAITasks",
    group: client,
    path: "hide_ai_tasks",
    omittedWhenZero: true,
    unused: true
  },
  "enable-ai-tasks": {
    name: "Enable AI Tasks",
    type: "bool",
    description: "Serve tasks.",
    default: "false",
    yaml: "enableAITasks",
    path: "enable_ai_tasks",
    omittedWhenZero: true,
    hidden: true,
    unused: true
  },
  "chat-acquire-batch-size": {
    name: "Chat: Acquire Batch Size",
    type: "int",
    description: "The number of chats to take at once.",
    default: "10",
    yaml: "acquireBatchSize",
    group: chat,
    path: "ai.chat.acquire_batch_size",
    hidden: true,
    unused: true
  },
  "chat-debug-logging-enabled": {
    name: "Chat: Debug Logging Enabled",
    type: "bool",
    description: "Log what chats do.",
    default: "false",
    yaml: "debugLoggingEnabled",
    group: chat,
    path: "ai.chat.debug_logging_enabled",
    unused: true
  },
  "chat-hook-url": {
    name: "Chat: Hook URL",
    type: "url",
    description: "The address that chat events are posted to.",
    yaml: "hookURL",
    group: chat,
    path: "ai.chat.hook_url",
    hidden: true,
    unused: true
  },
  "chat-hook-secret": {
    name: "Chat: Hook Secret",
    type: "string",
    description: "The key that signs chat events.",
    group: chat,
    path: "ai.chat.hook_secret",
    hidden: true,
    secret: true,
    unused: true
  },
  "chat-hook-timeout": {
    name: "Chat: Hook Timeout",
    type: "duration",
    description: "How long a chat hook may take.",
    default: "1.5s",
    yaml: "hookTimeout",
    group: chat,
    path: "ai.chat.hook_timeout",
    hidden: true,
    unused: true
  },
  "chat-hook-enabled": {
    name: "Chat: Hook Enabled",
    type: "bool",
    description: "Post chat events.",
    default: "true",
    yaml: "hookEnabled",
    group: chat,
    path: "ai.chat.hook_enabled",
    hidden: true,
    unused: true
  },
  "chat-hook-allow-insecure": {
    name: "Chat: Hook Allow Insecure",
    type: "bool",
    description: "Post chat events over plain http.",
    default: "false",
    yaml: "hookAllowInsecure",
    group: chat,
    path: "ai.chat.hook_allow_insecure",
    hidden: true,
    unused: true
  },
  "chat-ai-gateway-routing-enabled": {
    name: "Chat: AI Gateway Routing Enabled",
    type: "bool",
    description: "Send chats through the AI gateway.",
    default: "true",
    yaml: "aiGatewayRoutingEnabled",
    group: chat,
    path: "ai.chat.ai_gateway_routing_enabled",
    hidden: true,
    unused: true
  },
  "aibridge-enabled": {
    name: "AI Bridge Enabled",
    type: "bool",
    description: "Deprecated: use --ai-gateway-enabled.",
    default: "true",
    yaml: "enabled",
    group: aiBridgeDeprecated,
    path: "ai.bridge.enabled",
    hidden: true,
    useInstead: ["ai-gateway-enabled"]
  },
  "ai-gateway-enabled": {
    name: "AI Gateway Enabled",
    type: "bool",
    description: "Serve the AI gateway.",
    default: "true",
    yaml: "enabled",
    group: aiGateway,
    path: "ai.bridge.enabled"
  },
  "aibridge-openai-base-url": {
    name: "AI Bridge OpenAI Base URL",
    type: "string",
    description: "Deprecated: use --ai-gateway-openai-base-url.",
    default: "https://api.openai.com/v1/",
    yaml: "openai_base_url",
    group: aiBridgeDeprecated,
    path: "ai.bridge.openai.base_url",
    hidden: true,
    useInstead: ["ai-gateway-openai-base-url"],
    unused: true
  },
  "ai-gateway-openai-base-url": {
    name: "AI Gateway OpenAI Base URL",
    type: "string",
    description: "The address of OpenAI.",
    default: "https://api.openai.com/v1/",
    yaml: "openai_base_url",
    group: aiGateway,
    path: "ai.bridge.openai.base_url",
    unused: true
  },
  "aibridge-openai-key": {
    name: "AI Bridge OpenAI Key",
    type: "string",
    description: "Deprecated: use --ai-gateway-openai-key.",
    group: aiBridgeDeprecated,
    path: "ai.bridge.openai.key",
    hidden: true,
    secret: true,
    useInstead: ["ai-gateway-openai-key"],
    unused: true
  },
  "ai-gateway-openai-key": {
    name: "AI Gateway OpenAI Key",
    type: "string",
    description: "The key for OpenAI.",
    group: aiGateway,
    path: "ai.bridge.openai.key",
    secret: true,
    unused: true
  },
  "aibridge-anthropic-base-url": {
    name: "AI Bridge Anthropic Base URL",
    type: "string",
    description: "Deprecated: use --ai-gateway-anthropic-base-url.",
    default: "https://api.anthropic.com/",
    yaml: "anthropic_base_url",
    group: aiBridgeDeprecated,
    path: "ai.bridge.anthropic.base_url",
    hidden: true,
    useInstead: ["ai-gateway-anthropic-base-url"],
    unused: true
  },
  "ai-gateway-anthropic-base-url": {
    name: "AI Gateway Anthropic Base URL",
    type: "string",
    description: "The address of Anthropic.",
    default: "https://api.anthropic.com/",
    yaml: "anthropic_base_url",
    group: aiGateway,
    path: "ai.bridge.anthropic.base_url",
    unused: true
  },
  "aibridge-anthropic-key": {
    name: "AI Bridge Anthropic Key",
    type: "string",
    description: "Deprecated: use --ai-gateway-anthropic-key.",
    group: aiBridgeDeprecated,
    path: "ai.bridge.anthropic.key",
    hidden: true,
    secret: true,
    useInstead: ["ai-gateway-anthropic-key"],
    unused: true
  },
  "ai-gateway-anthropic-key": {
    name: "AI Gateway Anthropic Key",
    type: "string",
    description: "The key for Anthropic.",
    group: aiGateway,
    path: "ai.bridge.anthropic.key",
    secret: true,
    unused: true
  },
  "aibridge-bedrock-base-url": {
    name: "AI Bridge Bedrock Base URL",
    type: "string",
    description: "Deprecated: use --ai-gateway-bedrock-base-url.",
    yaml: "bedrock_base_url",
    group: aiBridgeDeprecated,
    path: "ai.bridge.bedrock.base_url",
    hidden: true,
    useInstead: ["ai-gateway-bedrock-base-url"],
    unused: true
  },
  "ai-gateway-bedrock-base-url": {
    name: "AI Gateway Bedrock Base URL",
    type: "string",
    description: "The address of Bedrock.",
    yaml: "bedrock_base_url",
    group: aiGateway,
    path: "ai.bridge.bedrock.base_url",
    unused: true
  },
  "aibridge-bedrock-region": {
    name: "AI Bridge Bedrock Region",
    type: "string",
    description: "Deprecated: use --ai-gateway-bedrock-region.",
    yaml: "bedrock_region",
    group: aiBridgeDeprecated,
    path: "ai.bridge.bedrock.region",
    hidden: true,
    useInstead: ["ai-gateway-bedrock-region"],
    unused: true
  },
  "ai-gateway-bedrock-region": {
    name: "AI Gateway Bedrock Region",
    type: "string",
    description: "The region of Bedrock.",
    yaml: "bedrock_region",
    group: aiGateway,
    path: "ai.bridge.bedrock.region",
    unused: true
  },
  "aibridge-bedrock-access-key": {
    name: "AI Bridge Bedrock Access Key",
    type: "string",
    description: "Deprecated: use --ai-gateway-bedrock-access-key.",
    group: aiBridgeDeprecated,
    path: "ai.bridge.bedrock.access_key",
    hidden: true,
    secret: true,
    useInstead: ["ai-gateway-bedrock-access-key"],
    unused: true
  },
  "ai-gateway-bedrock-access-key": {
    name: "AI Gateway Bedrock Access Key",
    type: "string",
    description: "The access key for Bedrock.",
    group: aiGateway,
    path: "ai.bridge.bedrock.access_key",
    secret: true,
    unused: true
  },
  "aibridge-bedrock-access-key-secret": {
    name: "AI Bridge Bedrock Access Key Secret",
    type: "string",
    description: "Deprecated: use --ai-gateway-bedrock-access-key-secret.",
    group: aiBridgeDeprecated,
    path: "ai.bridge.bedrock.access_key_secret",
    hidden: true,
    secret: true,
    useInstead: ["ai-gateway-bedrock-access-key-secret"],
    unused: true
  },
  "ai-gateway-bedrock-access-key-secret": {
    name: "AI Gateway Bedrock Access Key Secret",
    type: "string",
    description: "The secret of that access key.",
    group: aiGateway,
    path: "ai.bridge.bedrock.access_key_secret",
    secret: true,
    unused: true
  },
  "aibridge-bedrock-model": {
    name: "AI Bridge Bedrock Model",
    type: "string",
    description: "Deprecated: use --ai-gateway-bedrock-model.",
    default: "global.anthropic.claude-sonnet-4-5-20250929-v1:0",
    yaml: "bedrock_model",
    group: aiBridgeDeprecated,
    path: "ai.bridge.bedrock.model",
    hidden: true,
    useInstead: ["ai-gateway-bedrock-model"],
    unused: true
  },
  "ai-gateway-bedrock-model": {
    name: "AI Gateway Bedrock Model",
    type: "string",
    description: "The model to use at Bedrock.",
    default: "global.anthropic.claude-sonnet-4-5-20250929-v1:0",
    yaml: "bedrock_model",
    group: aiGateway,
    path: "ai.bridge.bedrock.model",
    unused: true
  },
  "aibridge-bedrock-small-fastmodel": {
    name: "AI Bridge Bedrock Small Fast Model",
    type: "string",
    description: "Deprecated: use --ai-gateway-bedrock-small-fastmodel.",
    default: "global.anthropic.claude-haiku-4-5-20251001-v1:0",
    env: "AIBRIDGE_BEDROCK_SMALL_FAST_MODEL",
    yaml: "bedrock_small_fast_model",
    group: aiBridgeDeprecated,
    path: "ai.bridge.bedrock.small_fast_model",
    hidden: true,
    useInstead: ["ai-gateway-bedrock-small-fastmodel"],
    unused: true
  },
  "ai-gateway-bedrock-small-fastmodel": {
    name: "AI Gateway Bedrock Small Fast Model",
    type: "string",
    description: "The small model to use at Bedrock.",
    default: "global.anthropic.claude-haiku-4-5-20251001-v1:0",
    env: "AI_GATEWAY_BEDROCK_SMALL_FAST_MODEL",
    yaml: "bedrock_small_fast_model",
    group: aiGateway,
    path: "ai.bridge.bedrock.small_fast_model",
    unused: true
  },
  "aibridge-inject-coder-mcp-tools": {
    name: "AI Bridge Inject Coder MCP tools",
    type: "bool",
    description: "Deprecated: use --ai-gateway-inject-coder-mcp-tools.",
    default: "false",
    yaml: "inject_coder_mcp_tools",
    group: aiBridgeDeprecated,
    path: "ai.bridge.inject_coder_mcp_tools",
    hidden: true,
    useInstead: ["ai-gateway-inject-coder-mcp-tools"],
    unused: true
  },
  "ai-gateway-inject-coder-mcp-tools": {
    name: "AI Gateway Inject Coder MCP tools",
    type: "bool",
    description: "Give models the deployment's own tools.",
    default: "false",
    yaml: "inject_coder_mcp_tools",
    group: aiGateway,
    path: "ai.bridge.inject_coder_mcp_tools",
    hidden: true,
    unused: true
  },
  "aibridge-retention": {
    name: "AI Bridge Data Retention Duration",
    type: "duration",
    description: "Deprecated: use --ai-gateway-retention.",
    default: "60d",
    yaml: "retention",
    group: aiBridgeDeprecated,
    path: "ai.bridge.retention",
    hidden: true,
    useInstead: ["ai-gateway-retention"]
  },
  "ai-gateway-retention": {
    name: "AI Gateway Data Retention Duration",
    type: "duration",
    description: "How long records of the gateway are kept; 0 keeps them.",
    default: "60d",
    yaml: "retention",
    group: aiGateway,
    path: "ai.bridge.retention"
  },
  "aibridge-max-concurrency": {
    name: "AI Bridge Max Concurrency",
    type: "int",
    description: "Deprecated: use --ai-gateway-max-concurrency.",
    default: "0",
    yaml: "max_concurrency",
    group: aiBridgeDeprecated,
    path: "ai.bridge.max_concurrency",
    hidden: true,
    useInstead: ["ai-gateway-max-concurrency"],
    unused: true
  },
  "ai-gateway-max-concurrency": {
    name: "AI Gateway Max Concurrency",
    type: "int",
    description: "The number of concurrent gateway requests; 0 is no limit.",
    default: "0",
    yaml: "max_concurrency",
    group: aiGateway,
    path: "ai.bridge.max_concurrency",
    unused: true
  },
  "aibridge-rate-limit": {
    name: "AI Bridge Rate Limit",
    type: "int",
    description: "Deprecated: use --ai-gateway-rate-limit.",
    default: "0",
    yaml: "rate_limit",
    group: aiBridgeDeprecated,
    path: "ai.bridge.rate_limit",
    hidden: true,
    useInstead: ["ai-gateway-rate-limit"],
    unused: true
  },
  "ai-gateway-rate-limit": {
    name: "AI Gateway Rate Limit",
    type: "int",
    description: "The number of gateway requests per second; 0 is no limit.",
    default: "0",
    yaml: "rate_limit",
    group: aiGateway,
    path: "ai.bridge.rate_limit",
    unused: true
  },
  "aibridge-structured-logging": {
    name: "AI Bridge Structured Logging",
    type: "bool",
    description: "Deprecated: use --ai-gateway-structured-logging.",
    default: "false",
    yaml: "structured_logging",
    group: aiBridgeDeprecated,
    path: "ai.bridge.structured_logging",
    hidden: true,
    useInstead: ["ai-gateway-structured-logging"],
    unused: true
  },
  "ai-gateway-structured-logging": {
    name: "AI Gateway Structured Logging",
    type: "bool",
    description: "Log gateway requests in structured form.",
    default: "false",
    yaml: "structured_logging",
    group: aiGateway,
    path: "ai.bridge.structured_logging",
    unused: true
  },
  "aibridge-send-actor-headers": {
    name: "AI Bridge Send Actor Headers",
    type: "bool",
    description: "Deprecated: use --ai-gateway-send-actor-headers.",
    default: "false",
    yaml: "send_actor_headers",
    group: aiBridgeDeprecated,
    path: "ai.bridge.send_actor_headers",
    hidden: true,
    useInstead: ["ai-gateway-send-actor-headers"],
    unused: true
  },
  "ai-gateway-send-actor-headers": {
    name: "AI Gateway Send Actor Headers",
    type: "bool",
    description: "Tell AI providers which user asks.",
    default: "false",
    yaml: "send_actor_headers",
    group: aiGateway,
    path: "ai.bridge.send_actor_headers",
    unused: true
  },
  "ai-gateway-dump-dir": {
    name: "AI Gateway API Dump Directory",
    type: "string",
    description: "The directory for copies of gateway requests.",
    yaml: "api_dump_dir",
    group: aiGateway,
    path: "ai.bridge.api_dump_dir",
    unused: true
  },
  "aibridge-allow-byok": {
    name: "AI Bridge Allow BYOK",
    type: "bool",
    description: "Deprecated: use --ai-gateway-allow-byok.",
    default: "true",
    yaml: "allow_byok",
    group: aiBridgeDeprecated,
    path: "ai.bridge.allow_byok",
    hidden: true,
    useInstead: ["ai-gateway-allow-byok"],
    unused: true
  },
  "ai-gateway-allow-byok": {
    name: "AI Gateway Allow BYOK",
    type: "bool",
    description: "Allow users keys of their own.",
    default: "true",
    yaml: "allow_byok",
    group: aiGateway,
    path: "ai.bridge.allow_byok",
    unused: true
  },
  "aibridge-circuit-breaker-enabled": {
    name: "AI Bridge Circuit Breaker Enabled",
    type: "bool",
    description: "Deprecated: use --ai-gateway-circuit-breaker-enabled.",
    default: "false",
    yaml: "circuit_breaker_enabled",
    group: aiBridgeDeprecated,
    path: "ai.bridge.circuit_breaker_enabled",
    hidden: true,
    useInstead: ["ai-gateway-circuit-breaker-enabled"],
    unused: true
  },
  "ai-gateway-circuit-breaker-enabled": {
    name: "AI Gateway Circuit Breaker Enabled",
    type: "bool",
    description: "Stop asking a provider that fails.",
    default: "false",
    yaml: "circuit_breaker_enabled",
    group: aiGateway,
    path: "ai.bridge.circuit_breaker_enabled",
    unused: true
  },
  "aibridge-circuit-breaker-failure-threshold": {
    name: "AI Bridge Circuit Breaker Failure Threshold",
    type: "int",
    description: "Deprecated: use --ai-gateway-circuit-breaker-failure-threshold.",
    default: "5",
    yaml: "circuit_breaker_failure_threshold",
    group: aiBridgeDeprecated,
    path: "ai.bridge.circuit_breaker_failure_threshold",
    hidden: true,
    useInstead: ["ai-gateway-circuit-breaker-failure-threshold"],
    unused: true
  },
  "ai-gateway-circuit-breaker-failure-threshold": {
    name: "AI Gateway Circuit Breaker Failure Threshold",
    type: "int",
    description: "The number of failures in a row that open the breaker.",
    default: "5",
    yaml: "circuit_breaker_failure_threshold",
    group: aiGateway,
    path: "ai.bridge.circuit_breaker_failure_threshold",
    hidden: true,
    unused: true
  },
  "aibridge-circuit-breaker-interval": {
    name: "AI Bridge Circuit Breaker Interval",
    type: "duration",
    description: "Deprecated: use --ai-gateway-circuit-breaker-interval.",
    default: "10s",
    yaml: "circuit_breaker_interval",
    group: aiBridgeDeprecated,
    path: "ai.bridge.circuit_breaker_interval",
    hidden: true,
    useInstead: ["ai-gateway-circuit-breaker-interval"],
    unused: true
  },
  "ai-gateway-circuit-breaker-interval": {
    name: "AI Gateway Circuit Breaker Interval",
    type: "duration",
    description: "The time in which failures count.",
    default: "10s",
    yaml: "circuit_breaker_interval",
    group: aiGateway,
    path: "ai.bridge.circuit_breaker_interval",
    hidden: true,
    unused: true
  },
  "aibridge-circuit-breaker-timeout": {
    name: "AI Bridge Circuit Breaker Timeout",
    type: "duration",
    description: "Deprecated: use --ai-gateway-circuit-breaker-timeout.",
    default: "30s",
    yaml: "circuit_breaker_timeout",
    group: aiBridgeDeprecated,
    path: "ai.bridge.circuit_breaker_timeout",
    hidden: true,
    useInstead: ["ai-gateway-circuit-breaker-timeout"],
    unused: true
  },
  "ai-gateway-circuit-breaker-timeout": {
    name: "AI Gateway Circuit Breaker Timeout",
    type: "duration",
    description: "How long the breaker stays open.",
    default: "30s",
    yaml: "circuit_breaker_timeout",
    group: aiGateway,
    path: "ai.bridge.circuit_breaker_timeout",
    hidden: true,
    unused: true
  },
  "aibridge-circuit-breaker-max-requests": {
    name: "AI Bridge Circuit Breaker Max Requests",
    type: "int",
    description: "Deprecated: use --ai-gateway-circuit-breaker-max-requests.",
    default: "3",
    yaml: "circuit_breaker_max_requests",
    group: aiBridgeDeprecated,
    path: "ai.bridge.circuit_breaker_max_requests",
    hidden: true,
    useInstead: ["ai-gateway-circuit-breaker-max-requests"],
    unused: true
  },
  "ai-gateway-circuit-breaker-max-requests": {
    name: "AI Gateway Circuit Breaker Max Requests",
    type: "int",
    description: "The number of requests while the breaker is half open.",
    default: "3",
    yaml: "circuit_breaker_max_requests",
    group: aiGateway,
    path: "ai.bridge.circuit_breaker_max_requests",
    hidden: true,
    unused: true
  },
  "ai-budget-policy": {
    name: "AI Budget Policy",
    type: "enum",
    description: "Which of several groups' budgets counts.",
    default: "highest",
    choices: ["highest"],
    yaml: "budget_policy",
    group: aiGateway,
    path: "ai.bridge.budget_policy",
    omittedWhenZero: true,
    unused: true
  },
  "ai-budget-period": {
    name: "AI Budget Period",
    type: "enum",
    description: "The period of budgets.",
    default: "month",
    choices: ["month"],
    yaml: "budget_period",
    group: aiGateway,
    path: "ai.bridge.budget_period",
    omittedWhenZero: true,
    unused: true
  },
  "aibridge-proxy-enabled": {
    name: "AI Bridge Proxy Enabled",
    type: "bool",
    description: "Deprecated: use --ai-gateway-proxy-enabled.",
    default: "false",
    yaml: "enabled",
    group: aiBridgeProxyDeprecated,
    path: "ai.aibridge_proxy.enabled",
    hidden: true,
    useInstead: ["ai-gateway-proxy-enabled"],
    unused: true
  },
  "ai-gateway-proxy-enabled": {
    name: "AI Gateway Proxy Enabled",
    type: "bool",
    description: "Serve the AI gateway as an HTTP proxy.",
    default: "false",
    yaml: "enabled",
    group: aiGatewayProxy,
    path: "ai.aibridge_proxy.enabled",
    unused: true
  },
  "aibridge-proxy-listen-addr": {
    name: "AI Bridge Proxy Listen Address",
    type: "string",
    description: "Deprecated: use --ai-gateway-proxy-listen-addr.",
    default: ":8888",
    yaml: "listen_addr",
    group: aiBridgeProxyDeprecated,
    path: "ai.aibridge_proxy.listen_addr",
    hidden: true,
    useInstead: ["ai-gateway-proxy-listen-addr"],
    unused: true
  },
  "ai-gateway-proxy-listen-addr": {
    name: "AI Gateway Proxy Listen Address",
    type: "string",
    description: "The address of that proxy.",
    default: ":8888",
    yaml: "listen_addr",
    group: aiGatewayProxy,
    path: "ai.aibridge_proxy.listen_addr",
    unused: true
  },
  "ai-gateway-proxy-target": {
    name: "AI Gateway Proxy Target",
    type: "string",
    description: "The gateway behind that proxy.",
    yaml: "target",
    group: aiGatewayProxy,
    path: "ai.aibridge_proxy.target",
    unused: true
  },
  "aibridge-proxy-tls-cert-file": {
    name: "AI Bridge Proxy TLS Certificate File",
    type: "string",
    description: "Deprecated: use --ai-gateway-proxy-tls-cert-file.",
    yaml: "tls_cert_file",
    group: aiBridgeProxyDeprecated,
    path: "ai.aibridge_proxy.tls_cert_file",
    hidden: true,
    useInstead: ["ai-gateway-proxy-tls-cert-file"],
    unused: true
  },
  "ai-gateway-proxy-tls-cert-file": {
    name: "AI Gateway Proxy TLS Certificate File",
    type: "string",
    description: "The certificate of that proxy.",
    yaml: "tls_cert_file",
    group: aiGatewayProxy,
    path: "ai.aibridge_proxy.tls_cert_file",
    unused: true
  },
  "aibridge-proxy-tls-key-file": {
    name: "AI Bridge Proxy TLS Key File",
    type: "string",
    description: "Deprecated: use --ai-gateway-proxy-tls-key-file.",
    yaml: "tls_key_file",
    group: aiBridgeProxyDeprecated,
    path: "ai.aibridge_proxy.tls_key_file",
    hidden: true,
    useInstead: ["ai-gateway-proxy-tls-key-file"],
    unused: true
  },
  "ai-gateway-proxy-tls-key-file": {
    name: "AI Gateway Proxy TLS Key File",
    type: "string",
    description: "The key of that certificate.",
    yaml: "tls_key_file",
    group: aiGatewayProxy,
    path: "ai.aibridge_proxy.tls_key_file",
    unused: true
  },
  "aibridge-proxy-cert-file": {
    name: "AI Bridge Proxy MITM CA Certificate File",
    type: "string",
    description: "Deprecated: use --ai-gateway-proxy-cert-file.",
    yaml: "cert_file",
    group: aiBridgeProxyDeprecated,
    path: "ai.aibridge_proxy.cert_file",
    hidden: true,
    useInstead: ["ai-gateway-proxy-cert-file"],
    unused: true
  },
  "ai-gateway-proxy-cert-file": {
    name: "AI Gateway Proxy MITM CA Certificate File",
    type: "string",
    description: "The authority that signs certificates for intercepted hosts.",
    yaml: "cert_file",
    group: aiGatewayProxy,
    path: "ai.aibridge_proxy.cert_file",
    unused: true
  },
  "aibridge-proxy-key-file": {
    name: "AI Bridge Proxy MITM CA Key File",
    type: "string",
    description: "Deprecated: use --ai-gateway-proxy-key-file.",
    yaml: "key_file",
    group: aiBridgeProxyDeprecated,
    path: "ai.aibridge_proxy.key_file",
    hidden: true,
    useInstead: ["ai-gateway-proxy-key-file"],
    unused: true
  },
  "ai-gateway-proxy-key-file": {
    name: "AI Gateway Proxy MITM CA Key File",
    type: "string",
    description: "The key of that authority.",
    yaml: "key_file",
    group: aiGatewayProxy,
    path: "ai.aibridge_proxy.key_file",
    unused: true
  },
  "aibridge-proxy-domain-allowlist": {
    name: "AI Bridge Proxy Domain Allowlist",
    type: "string-array",
    description: "Deprecated: use --ai-gateway-proxy-domain-allowlist.",
    yaml: "domain_allowlist",
    group: aiBridgeProxyDeprecated,
    path: "ai.aibridge_proxy.domain_allowlist",
    hidden: true,
    useInstead: ["ai-gateway-proxy-domain-allowlist"],
    unused: true
  },
  "ai-gateway-proxy-domain-allowlist": {
    name: "AI Gateway Proxy Domain Allowlist",
    type: "string-array",
    description: "The hosts to intercept.",
    yaml: "domain_allowlist",
    group: aiGatewayProxy,
    path: "ai.aibridge_proxy.domain_allowlist",
    hidden: true,
    unused: true
  },
  "aibridge-proxy-upstream": {
    name: "AI Bridge Proxy Upstream Proxy",
    type: "string",
    description: "Deprecated: use --ai-gateway-proxy-upstream.",
    yaml: "upstream_proxy",
    group: aiBridgeProxyDeprecated,
    path: "ai.aibridge_proxy.upstream_proxy",
    hidden: true,
    useInstead: ["ai-gateway-proxy-upstream"],
    unused: true
  },
  "ai-gateway-proxy-upstream": {
    name: "AI Gateway Proxy Upstream Proxy",
    type: "string",
    description: "The proxy behind that proxy.",
    yaml: "upstream_proxy",
    group: aiGatewayProxy,
    path: "ai.aibridge_proxy.upstream_proxy",
    unused: true
  },
  "aibridge-proxy-upstream-ca": {
    name: "AI Bridge Proxy Upstream Proxy CA",
    type: "string",
    description: "Deprecated: use --ai-gateway-proxy-upstream-ca.",
    yaml: "upstream_proxy_ca",
    group: aiBridgeProxyDeprecated,
    path: "ai.aibridge_proxy.upstream_proxy_ca",
    hidden: true,
    useInstead: ["ai-gateway-proxy-upstream-ca"],
    unused: true
  },
  "ai-gateway-proxy-upstream-ca": {
    name: "AI Gateway Proxy Upstream Proxy CA",
    type: "string",
    description: "The authority of the proxy behind that proxy.",
    yaml: "upstream_proxy_ca",
    group: aiGatewayProxy,
    path: "ai.aibridge_proxy.upstream_proxy_ca",
    unused: true
  },
  "aibridge-proxy-allowed-private-cidrs": {
    name: "AI Bridge Proxy Allowed Private CIDRs",
    type: "string-array",
    description: "Deprecated: use --ai-gateway-proxy-allowed-private-cidrs.",
    yaml: "allowed_private_cidrs",
    group: aiBridgeProxyDeprecated,
    path: "ai.aibridge_proxy.allowed_private_cidrs",
    hidden: true,
    useInstead: ["ai-gateway-proxy-allowed-private-cidrs"],
    unused: true
  },
  "ai-gateway-proxy-allowed-private-cidrs": {
    name: "AI Gateway Proxy Allowed Private CIDRs",
    type: "string-array",
    description: "Private networks that the proxy may reach.",
    yaml: "allowed_private_cidrs",
    group: aiGatewayProxy,
    path: "ai.aibridge_proxy.allowed_private_cidrs",
    unused: true
  },
  "aibridge-proxy-dump-dir": {
    name: "AI Bridge Proxy API Dump Directory",
    type: "string",
    description: "Deprecated: use --ai-gateway-proxy-dump-dir.",
    yaml: "api_dump_dir",
    group: aiBridgeProxyDeprecated,
    path: "ai.aibridge_proxy.api_dump_dir",
    hidden: true,
    useInstead: ["ai-gateway-proxy-dump-dir"],
    unused: true
  },
  "ai-gateway-proxy-dump-dir": {
    name: "AI Gateway Proxy API Dump Directory",
    type: "string",
    description: "The directory for copies of intercepted requests.",
    yaml: "api_dump_dir",
    group: aiGatewayProxy,
    path: "ai.aibridge_proxy.api_dump_dir",
    unused: true
  },
  "audit-logs-retention": {
    name: "Audit Logs Retention",
    type: "duration",
    description: "How long audit entries are kept; 0 keeps them.",
    default: "0",
    yaml: "audit_logs",
    group: retention,
    path: "retention.audit_logs"
  },
  "connection-logs-retention": {
    name: "Connection Logs Retention",
    type: "duration",
    description: "How long connection entries are kept; 0 keeps them.",
    default: "0",
    yaml: "connection_logs",
    group: retention,
    path: "retention.connection_logs"
  },
  "api-keys-retention": {
    name: "API Keys Retention",
    type: "duration",
    description: "How long expired keys are kept; 0 keeps them.",
    default: "7d",
    yaml: "api_keys",
    group: retention,
    path: "retention.api_keys"
  },
  "workspace-agent-logs-retention": {
    name: "Workspace Agent Logs Retention",
    type: "duration",
    description: "How long logs of agents are kept; 0 keeps them.",
    default: "7d",
    yaml: "workspace_agent_logs",
    group: retention,
    path: "retention.workspace_agent_logs"
  },
  "boundary-log-retention": {
    name: "Boundary Log Retention",
    type: "duration",
    description: "How long firewall logs are kept; 0 keeps them.",
    default: "0",
    yaml: "boundary_logs",
    group: retention,
    path: "retention.boundary_logs",
    unused: true
  },
  "enable-authz-recordings": {
    name: "Enable Authorization Recordings",
    type: "bool",
    description: "List in answers the permission checks behind them, for debugging.",
    default: "false",
    path: "enable_authz_recording",
    omittedWhenZero: true,
    hidden: true
  },
  "disable-template-builder": {
    name: "Disable Template Builder",
    type: "bool",
    description: "Do not serve the template builder.",
    yaml: "disabled",
    group: templateBuilder,
    path: "template_builder.disabled",
    omittedWhenZero: true
  },
  "template-builder-registry-url": {
    name: "Template Builder Registry URL",
    type: "string",
    description: "The host of the registry that the template builder's modules come from; without it, Terraform's own.",
    yaml: "registryURL",
    group: templateBuilder,
    path: "template_builder.registry_url",
    omittedWhenZero: true
  },
  "default-organization-name": {
    name: "Default Organization Name",
    type: "string",
    description:
      "The name of the default organization. It counts for a new deployment only. Default: default, or as compatibility sets it.",
    yaml: "defaultOrganizationName"
  },
  "cors-allowed-origins": {
    name: "CORS Allowed Origins",
    type: "string-array",
    description:
      "Origins of other sites whose pages may use the interface, such as https://app.example.com, with the browser's cookies and over WebSockets. Name only origins that you trust like the service itself.",
    group: http,
    yaml: "corsAllowedOrigins"
  },
  "setup-token": {
    name: "Setup Token",
    type: "string",
    description:
      "The token, of 16 characters or more, with which callers of other machines create the first user. Without one, the standalone server makes one at each start and prints it. none requires no token.",
    secret: true
  },
  "license-keys": {
    name: "License Keys",
    type: "string-array",
    description:
      "The keys that verify licenses, each an id, an equals sign and an Ed25519 public key: 32 bytes in base64. Without one, licenses are not asked for.",
    yaml: "licenseKeys"
  },
  "narrow-oauth2-scopes": {
    name: "Narrow OAuth2 Scopes",
    type: "bool",
    description:
      "Give OAuth2 apps no more than the scopes that they ask for. Otherwise an app that asks for any gets all rights of its user, except those that give credentials or rights. The compatibility with an ecosystem whose clients need more than they ask for turns it off.",
    default: "true",
    yaml: "narrowScopes",
    group: oauth2
  },
  "allow-access-token-query": {
    name: "Allow Access Token Query",
    type: "bool",
    description:
      "Take credentials from the query parameter access_token too. Addresses are written into logs and histories, so a token in one leaks. Default: false, or as compatibility sets it.",
    default: "false",
    yaml: "allowAccessTokenQuery",
    group: oauth2
  },
  "agent-connection-update-interval": {
    name: "Agent Connection Update Interval",
    type: "duration",
    description: "How often the presence of a connected agent is written. The agent counts as disconnected after twice as long.",
    default: "15s",
    yaml: "agentConnectionUpdateInterval",
    group: introspection
  },
  "sandbox-requests": {
    name: "Sandbox Requests",
    type: "int",
    description: "The number of requests for processes and files that each process of the service leads to one agent at a time.",
    default: "96",
    least: 1,
    yaml: "sandboxRequests",
    group: bounds
  },
  "sandbox-processes": {
    name: "Sandbox Processes",
    type: "int",
    description: "The number of processes that callers of the API may have running beside one agent at a time.",
    default: "256",
    least: 1,
    yaml: "sandboxProcesses",
    group: bounds
  },
  "sandbox-command-time": {
    name: "Sandbox Command Time",
    type: "duration",
    description: "How long a command may take that a caller of the API waits for.",
    default: "1h0m0s",
    yaml: "sandboxCommandTime",
    group: bounds
  },
  "sandbox-upload-bytes": {
    name: "Sandbox Upload Bytes",
    type: "int",
    description: "The number of bytes that one request may send to the files of a workspace.",
    default: "4294967296",
    least: 1,
    yaml: "sandboxUploadBytes",
    group: bounds
  },
  "streams-per-caller": {
    name: "Streams per Caller",
    type: "int",
    description: "The number of streams that one caller may have open in each process: followed logs, watches, agents' connections.",
    default: "1000",
    least: 1,
    yaml: "streamsPerCaller",
    group: bounds
  },
  "upload-bytes-per-user": {
    name: "Upload Bytes per User",
    type: "int",
    description: "The number of bytes that the uploaded files of one user may take together.",
    default: "1073741824",
    least: 1,
    yaml: "uploadBytesPerUser",
    group: bounds
  },
  "websocket-message-bytes": {
    name: "WebSocket Message Bytes",
    type: "int",
    description: "The number of bytes that a message of a WebSocket may have.",
    default: "4194304",
    least: 4_194_304,
    yaml: "websocketMessageBytes",
    group: bounds
  }
} as const satisfies Readonly<Record<string, Definition>>
