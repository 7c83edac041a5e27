import type { HealthcheckReport, HealthSection } from "@atelier/client"
import * as diagnostics from "@atelier/client/diagnostics"
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { RefreshCw } from "lucide-react"
import type { ReactNode } from "react"
import { client } from "../../app/client.js"
import { useMay } from "../../app/session.js"
import { healthText } from "../../texts/deployment.js"
import { Badge, Status } from "../../ui/page/Badge.js"
import type { Tone } from "../../ui/page/tone.js"
import { Button } from "../../ui/forms/Button.js"
import { Callout } from "../../ui/page/Callout.js"
import { Section } from "../../ui/page/Page.js"
import { ErrorState, SkeletonLines } from "../../ui/page/States.js"
import { Time } from "../../ui/page/Time.js"
import { notifyError } from "../../ui/floating/Toast.js"
import { DeploymentFrame } from "./DeploymentFrame.js"
import { healthCheck } from "./parts.js"

const queryKey = ["health"]

/** The parts of a report, and their names in the settings. */
const parts = [
  ["access_url", "AccessURL"],
  ["database", "Database"],
  ["websocket", "Websocket"],
  ["provisioner_daemons", "ProvisionerDaemons"],
  ["workspace_proxy", "WorkspaceProxy"],
  ["derp", "DERP"]
] as const satisfies ReadonlyArray<readonly [keyof HealthcheckReport, HealthSection]>

const tones: Readonly<Record<"ok" | "warning" | "error", Tone>> = { ok: "green", warning: "amber", error: "red" }

const detailOf = (part: (typeof parts)[number][0], report: HealthcheckReport): ReactNode => {
  switch (part) {
    case "access_url":
      return (
        <span className="mono">
          {report.access_url.access_url}
          {report.access_url.status_code === 0 ? "" : ` · ${report.access_url.status_code}`}
        </span>
      )
    case "database":
      return (
        <span>
          {healthText.latency}: <span className="mono">{report.database.latency}</span>,{" "}
          {healthText.threshold(report.database.threshold_ms)}
        </span>
      )
    case "provisioner_daemons":
      return (
        <span>{report.provisioner_daemons.items.map(({ provisioner_daemon: { name, version } }) => `${name} ${version}`).join(", ")}</span>
      )
    case "workspace_proxy":
      return <span>{report.workspace_proxy.workspace_proxies.regions.map(({ name }) => name).join(", ")}</span>
    case "derp":
      return (
        <span>
          {Object.values(report.derp.regions)
            .map(({ region }) => region?.RegionName ?? "")
            .join(", ")}
        </span>
      )
    default:
      return null
  }
}

export const Health = () => {
  const may = useMay({ read: healthCheck })
  const queryClient = useQueryClient()
  const {
    data: report,
    error,
    isLoadingError,
    isFetching,
    refetch
  } = useQuery({
    queryKey,
    queryFn: ({ signal }) => diagnostics.getHealth(client, {}, { signal }),
    enabled: may.read,
    refetchInterval: 60_000
  })
  const again = useMutation({
    mutationFn: () => diagnostics.getHealth(client, { force: "true" }),
    onSuccess: (fresh) => queryClient.setQueryData(queryKey, fresh),
    onError: notifyError
  })
  return (
    <DeploymentFrame
      needs="health"
      actions={
        may.read ? (
          <Button icon={<RefreshCw />} isBusy={again.isPending} disabled={isFetching} onClick={() => again.mutate()}>
            {healthText.again}
          </Button>
        ) : undefined
      }
    >
      <Section
        isFlush
        title={
          report === undefined ? (
            healthText.checked
          ) : (
            <Status tone={tones[report.severity]}>
              {report.severity === "ok" ? healthText.all : healthText.severities[report.severity]}
            </Status>
          )
        }
        actions={
          report === undefined ? undefined : (
            <span className="faint">
              {healthText.checked} <Time at={report.time} />
            </span>
          )
        }
      >
        {isLoadingError ? (
          <ErrorState error={error} onRetry={refetch} />
        ) : report === undefined ? (
          <SkeletonLines count={6} />
        ) : (
          parts.map(([part, section]) => <Part key={part} part={part} section={section} report={report} />)
        )}
      </Section>
    </DeploymentFrame>
  )
}

interface PartProps {
  readonly part: (typeof parts)[number][0]
  readonly section: HealthSection
  readonly report: HealthcheckReport
}

const Part = ({ part, report, section }: PartProps) => {
  const { dismissed, error, severity, warnings } = report[part]
  const may = useMay({ update: { on: "deployment_config", to: "update" } })
  const queryClient = useQueryClient()
  const toggle = useMutation({
    mutationFn: async () => {
      const { dismissed_healthchecks: before } = await diagnostics.getHealthSettings(client)
      const others = before.filter((other) => other !== section)
      await diagnostics.updateHealthSettings(client, { body: { dismissed_healthchecks: dismissed ? others : [...others, section] } })
      return diagnostics.getHealth(client, { force: "true" })
    },
    onSuccess: (fresh) => queryClient.setQueryData(queryKey, fresh),
    onError: notifyError
  })
  return (
    <div className="health-row">
      <span className="health-name">{healthText.sections[part]}</span>
      <span className="health-side">
        {dismissed ? <Badge>{healthText.dismissed}</Badge> : null}
        {may.update && (dismissed || severity !== "ok") ? (
          <Button size="small" kind="quiet" isBusy={toggle.isPending} onClick={() => toggle.mutate()}>
            {dismissed ? healthText.undismiss : healthText.dismiss}
          </Button>
        ) : null}
        <Status tone={tones[severity]}>{healthText.severities[severity]}</Status>
      </span>
      <div className="health-details">
        <span>{healthText.hints[part]}</span>
        {detailOf(part, report)}
        {error === undefined && warnings.length === 0 ? null : (
          <div className="health-messages">
            {error === undefined ? null : <Callout kind="error" title={error} />}
            {warnings.map(({ code, message }) => (
              <Callout key={`${code} ${message}`} kind="warning" title={message}>
                <span className="mono">{code}</span>
              </Callout>
            ))}
          </div>
        )}
      </div>
    </div>
  )
}
