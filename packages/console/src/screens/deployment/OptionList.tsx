import type { DeploymentConfig } from "@atelier/client"
import * as general from "@atelier/client/general"
import { useQuery } from "@tanstack/react-query"
import { SlidersHorizontal } from "lucide-react"
import { useDeferredValue, useRef, useState } from "react"
import { client } from "../../app/client.js"
import { useKeys } from "../../app/keys.js"
import { optionsText } from "../../texts/deployment.js"
import { Badge } from "../../ui/page/Badge.js"
import { Checkbox, Input } from "../../ui/forms/Field.js"
import { Section } from "../../ui/page/Page.js"
import { Empty, ErrorState, SkeletonLines } from "../../ui/page/States.js"
import { duration } from "../../ui/page/Time.js"
import { DeploymentFrame } from "./DeploymentFrame.js"

type Option = DeploymentConfig["options"][number]

const nanosecondsOfMillisecond = 1_000_000

const valueOf = ({ annotations, value }: Option): string => {
  if (value === undefined || value === null || value === "") return ""
  if (typeof value === "number" && annotations?.["format_duration"] === "true") return duration(value / nanosecondsOfMillisecond)
  return typeof value === "object" ? JSON.stringify(value) : String(value)
}

const sourceOf = ({ value_source: source = "" }: Option): keyof typeof optionsText.sources =>
  source === "default" || source === "env" || source === "flag" || source === "yaml" ? source : source === "" ? "default" : "unknown"

export const OptionList = () => {
  const [find, setFind] = useState("")
  const [onlySet, setOnlySet] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const words = useDeferredValue(find).toLowerCase().split(/\s+/).filter(Boolean)
  const { data, error, isLoadingError, refetch } = useQuery({
    queryKey: ["deployment", "config"],
    queryFn: ({ signal }) => general.getDeploymentConfig(client, { signal })
  })
  useKeys({ "/": () => input.current?.focus() })
  const shown = (data?.options ?? []).filter((option) => {
    if (onlySet && sourceOf(option) === "default") return false
    const text = `${option.name} ${option.flag} ${option.env ?? ""} ${option.description}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
  return (
    <DeploymentFrame>
      <div className="options-toolbar">
        <Input
          ref={input}
          className="options-find"
          aria-label={optionsText.find}
          placeholder={optionsText.placeholder}
          value={find}
          onChange={(event) => setFind(event.target.value)}
        />
        <Checkbox label={optionsText.onlySet} checked={onlySet} onChange={(event) => setOnlySet(event.target.checked)} />
        {data === undefined ? null : <span className="faint">{optionsText.count(shown.length)}</span>}
      </div>
      <Section isFlush>
        {isLoadingError ? (
          <ErrorState error={error} onRetry={refetch} />
        ) : data === undefined ? (
          <SkeletonLines count={8} />
        ) : shown.length === 0 ? (
          <Empty icon={<SlidersHorizontal />} title={optionsText.none}>
            {optionsText.noneHint}
          </Empty>
        ) : (
          shown.map((option) => {
            const source = sourceOf(option)
            const value = valueOf(option)
            return (
              <div key={`${option.name} ${option.flag}`} className="option">
                <div className="option-what">
                  <div className="health-name">{option.name}</div>
                  <div className="option-about">{option.description}</div>
                  <div className="option-names mono">
                    {option.flag === "" ? null : <span>--{option.flag}</span>}
                    {option.env === undefined || option.env === "" ? null : <span>{option.env}</span>}
                  </div>
                </div>
                <div className="option-value">{value === "" ? <span className="faint">{optionsText.unset}</span> : value}</div>
                <div>
                  <Badge tone={source === "default" ? "grey" : "accent"}>{optionsText.sources[source]}</Badge>
                </div>
              </div>
            )
          })
        )}
      </Section>
    </DeploymentFrame>
  )
}
