import type { Client } from "./drpc/DrpcClient.js"
import type { Handlers } from "./drpc/Router.js"
import { bidirectional, clientStreaming, type MethodOf, type Service, serverStreaming, service, unary } from "./drpc/Service.js"
import * as Provisioner from "./messages/Provisioner.js"
import { Empty } from "./messages/Wrappers.js"

export type ProvisionerDaemonMethods = {
  readonly AcquireJob: MethodOf<"unary", typeof Empty, typeof Provisioner.AcquiredJob>
  readonly AcquireJobWithCancel: MethodOf<"bidirectional", typeof Provisioner.CancelAcquire, typeof Provisioner.AcquiredJob>
  readonly CommitQuota: MethodOf<"unary", typeof Provisioner.CommitQuotaRequest, typeof Provisioner.CommitQuotaResponse>
  readonly UpdateJob: MethodOf<"unary", typeof Provisioner.UpdateJobRequest, typeof Provisioner.UpdateJobResponse>
  readonly FailJob: MethodOf<"unary", typeof Provisioner.FailedJob, typeof Empty>
  readonly CompleteJob: MethodOf<"unary", typeof Provisioner.CompletedJob, typeof Empty>
  readonly UploadFile: MethodOf<"clientStreaming", typeof Provisioner.FileUpload, typeof Empty>
  readonly DownloadFile: MethodOf<"serverStreaming", typeof Provisioner.FileRequest, typeof Provisioner.FileUpload>
  readonly JudgeRemains: MethodOf<"unary", typeof Provisioner.RemainsRequest, typeof Provisioner.RemainsResponse>
}

/** How provisioner daemons take jobs and report on them. Spec: templates-and-provisioning.md §8.3. */
export const ProvisionerDaemonService: Service<ProvisionerDaemonMethods> = service("provisionerd.ProvisionerDaemon", {
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

export type ProvisionerDaemonHandlers<R = never> = Handlers<ProvisionerDaemonMethods, R>
export type ProvisionerDaemonClient = Client<ProvisionerDaemonMethods>
