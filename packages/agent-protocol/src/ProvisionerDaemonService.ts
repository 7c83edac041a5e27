import type { Client } from "./drpc/DrpcClient.js"
import type { Handlers } from "./drpc/Router.js"
import { bidirectional, clientStreaming, serverStreaming, service, unary } from "./drpc/Service.js"
import * as Provisioner from "./messages/Provisioner.js"
import { Empty } from "./messages/Wrappers.js"

/** How provisioner daemons take jobs and report on them. Spec: templates-and-provisioning.md §8.3. */
export const ProvisionerDaemonService = service("provisionerd.ProvisionerDaemon", {
  AcquireJob: unary(Empty, Provisioner.AcquiredJob),
  AcquireJobWithCancel: bidirectional(Provisioner.CancelAcquire, Provisioner.AcquiredJob),
  CommitQuota: unary(Provisioner.CommitQuotaRequest, Provisioner.CommitQuotaResponse),
  UpdateJob: unary(Provisioner.UpdateJobRequest, Provisioner.UpdateJobResponse),
  FailJob: unary(Provisioner.FailedJob, Empty),
  CompleteJob: unary(Provisioner.CompletedJob, Empty),
  UploadFile: clientStreaming(Provisioner.FileUpload, Empty),
  DownloadFile: serverStreaming(Provisioner.FileRequest, Provisioner.FileUpload),
  JudgeRemains: unary(Provisioner.RemainsRequest, Provisioner.RemainsResponse)
})

export type ProvisionerDaemonHandlers<R = never> = Handlers<(typeof ProvisionerDaemonService)["methods"], R>
export type ProvisionerDaemonClient = Client<(typeof ProvisionerDaemonService)["methods"]>
