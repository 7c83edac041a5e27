/** The use cases of every area, put together. An area adds its services here. */
import { AccessChecks, StreamRights } from "@atelier/core/access"
import {
  AgentConnections,
  AgentLogs,
  AgentManifests,
  AgentReports,
  Agents,
  AgentSessions,
  BuildResources,
  MetadataReports,
  StatReports
} from "@atelier/core/agents"
import { Deployment } from "@atelier/core/deployment"
import {
  ApiKeys,
  ExternalLogins,
  ExternalSignups,
  GitSshKeyPairs,
  GitSshKeys,
  HostLogins,
  LinkTokens,
  LoginConversions,
  LoginMethods,
  LoginSync,
  PasscodeDelivery,
  Passcodes,
  PersonalSettings,
  QuietHours,
  IdpSyncInForce,
  IdpSyncSettings,
  ScimAccess,
  ScimUsers,
  SecretValues,
  Sessions,
  UserCreation,
  UserDeletion,
  UserDirectory,
  UserDormancy,
  UserOrganizations,
  UserPasswords,
  UserProfiles,
  UserRoles,
  Users,
  UserSecrets,
  UserStatuses
} from "@atelier/core/identity"
import { AiBudgets, AiSpend, Grantees, GroupChanges, Groups } from "@atelier/core/groups"
import { CustomRoles, Members, OrganizationChanges, Organizations, SharingSettings } from "@atelier/core/organizations"
import { Ids } from "@atelier/core/platform"
import {
  Files,
  JobClaims,
  JobRunner,
  OrganizationJobs,
  ProvisionerDaemons,
  ProvisionerJobs,
  TemplateSources
} from "@atelier/core/provisioning"
import {
  importJobs,
  SourceTags,
  TemplateCreation,
  Templates,
  TemplateSharing,
  TemplateVersionCreation,
  TemplateVersions
} from "@atelier/core/templates"
import {
  BuildCosts,
  BuildInputs,
  buildJobs,
  BuildOrders,
  BuildOutcomes,
  BuildStates,
  fetchableObjects,
  ParameterAutofill,
  scheduleChanges,
  sealedStates,
  workspaceActivity,
  WorkspaceBuildCreation,
  WorkspaceBuilds,
  WorkspaceCreation,
  WorkspaceOwners,
  WorkspaceQuotas,
  WorkspaceSharing,
  Workspaces,
  WorkspaceViews
} from "@atelier/core/workspaces"
import { Layer } from "effect"

const agentServices = Layer.mergeAll(AgentConnections.layer, AgentLogs.layer, AgentManifests.layer, AgentReports.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(AgentSessions.layer, BuildResources.layer, MetadataReports.layer, StatReports.layer)),
  Layer.provideMerge(Agents.layer),
  Layer.provideMerge(workspaceActivity)
)

const templateServices = Layer.mergeAll(
  OrganizationJobs.layer,
  ProvisionerDaemons.layer,
  TemplateCreation.layer,
  Layer.provide(Templates.layer, scheduleChanges),
  TemplateVersionCreation.layer,
  TemplateVersions.layer
).pipe(
  Layer.provideMerge(JobRunner.layer),
  Layer.provideMerge(Layer.mergeAll(Files.layer, SourceTags.layer, importJobs, JobClaims.layer)),
  Layer.provideMerge(Layer.mergeAll(TemplateSources.layer, ProvisionerJobs.layer, buildJobs)),
  Layer.provideMerge(Layer.mergeAll(BuildCosts.layer, BuildInputs.layer, BuildOutcomes.layer))
)

const workspaceServices = Layer.mergeAll(
  ParameterAutofill.layer,
  WorkspaceBuildCreation.layer,
  WorkspaceBuilds.layer,
  WorkspaceCreation.layer,
  Workspaces.layer
).pipe(Layer.provideMerge(Layer.mergeAll(BuildOrders.layer, WorkspaceOwners.layer, WorkspaceViews.layer)))

/** What users and those who manage them change. */
const accountServices = Layer.mergeAll(
  GitSshKeys.layer,
  LoginMethods.layer,
  Passcodes.layer,
  PersonalSettings.layer,
  QuietHours.layer,
  UserPasswords.layer,
  UserProfiles.layer,
  UserRoles.layer,
  UserStatuses.layer
)

/** Groups, and what their members share. */
const groupServices = Layer.mergeAll(
  AiBudgets.layer,
  AiSpend.layer,
  GroupChanges.layer,
  TemplateSharing.layer,
  WorkspaceQuotas.layer,
  WorkspaceSharing.layer
).pipe(Layer.provideMerge(Layer.mergeAll(Grantees.layer, Groups.layer)))

/** What those who manage organizations change. */
const organizationServices = Layer.mergeAll(OrganizationChanges.layer, Members.layer, CustomRoles.layer, SharingSettings.layer)

/** What identity providers change by themselves. */
const providerServices = Layer.mergeAll(IdpSyncSettings.layer, ScimAccess.layer, ScimUsers.layer)

/** How one logs in, and stays so. */
const loginServices = HostLogins.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(Sessions.layer, ExternalLogins.layer)),
  Layer.provideMerge(LoginConversions.layer),
  Layer.provide(Layer.mergeAll(Deployment.layer, ExternalSignups.layer, LinkTokens.layer, LoginSync.layer))
)

/** The use cases of every area. */
export const services = Layer.mergeAll(
  Layer.provide(AccessChecks.layer, fetchableObjects),
  Deployment.layer,
  loginServices,
  ApiKeys.layer,
  UserSecrets.layer,
  UserCreation.layer,
  UserDeletion.layer,
  UserDirectory.layer,
  UserDormancy.layer,
  UserOrganizations.layer,
  accountServices,
  providerServices,
  groupServices,
  organizationServices,
  workspaceServices
).pipe(
  Layer.provideMerge(templateServices),
  Layer.provideMerge(Layer.mergeAll(Organizations.layer, agentServices)),
  Layer.provideMerge(Users.layer),
  Layer.provideMerge(GitSshKeyPairs.layer),
  Layer.provideMerge(Layer.mergeAll(PasscodeDelivery.layer, SecretValues.layer)),
  Layer.provideMerge(Layer.provideMerge(sealedStates, BuildStates.layer)),
  Layer.provideMerge(Layer.mergeAll(Ids.layer, IdpSyncInForce.layer, StreamRights.layer))
)
