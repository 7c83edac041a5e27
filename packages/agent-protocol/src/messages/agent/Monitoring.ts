/** How much memory and disk is in use. agents-and-apps.md §14. */
import { bool, field, int32, int53, optional, repeated, string, type TypeOf } from "../Protobuf.js"
import { Timestamp } from "../Timestamp.js"
import { agent } from "./agent.js"

export const GetResourcesMonitoringConfigurationRequest = agent("GetResourcesMonitoringConfigurationRequest", {})

export const MonitoringConfig = agent("GetResourcesMonitoringConfigurationResponse.Config", {
  num_datapoints: field(1, int32),
  collection_interval_seconds: field(2, int32)
})

export const MonitoringMemory = agent("GetResourcesMonitoringConfigurationResponse.Memory", { enabled: field(1, bool) })

export const MonitoringVolume = agent("GetResourcesMonitoringConfigurationResponse.Volume", {
  enabled: field(1, bool),
  path: field(2, string)
})

export const GetResourcesMonitoringConfigurationResponse = agent("GetResourcesMonitoringConfigurationResponse", {
  config: field(1, MonitoringConfig),
  /** Absent when memory is not monitored. */
  memory: optional(2, MonitoringMemory),
  volumes: repeated(3, MonitoringVolume)
})
export type GetResourcesMonitoringConfigurationResponse = TypeOf<typeof GetResourcesMonitoringConfigurationResponse>

export const MemoryUsage = agent("PushResourcesMonitoringUsageRequest.Datapoint.MemoryUsage", {
  used: field(1, int53),
  total: field(2, int53)
})
export type MemoryUsage = TypeOf<typeof MemoryUsage>

export const VolumeUsage = agent("PushResourcesMonitoringUsageRequest.Datapoint.VolumeUsage", {
  volume: field(1, string),
  used: field(2, int53),
  total: field(3, int53)
})
export type VolumeUsage = TypeOf<typeof VolumeUsage>

export const Datapoint = agent("PushResourcesMonitoringUsageRequest.Datapoint", {
  collected_at: field(1, Timestamp),
  memory: optional(2, MemoryUsage),
  volumes: repeated(3, VolumeUsage)
})
export type Datapoint = TypeOf<typeof Datapoint>

export const PushResourcesMonitoringUsageRequest = agent("PushResourcesMonitoringUsageRequest", { datapoints: repeated(1, Datapoint) })
export type PushResourcesMonitoringUsageRequest = TypeOf<typeof PushResourcesMonitoringUsageRequest>

export const PushResourcesMonitoringUsageResponse = agent("PushResourcesMonitoringUsageResponse", {})
