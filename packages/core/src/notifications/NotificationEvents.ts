/**
 * The events that users are told of. Ids and names are literals that receivers of webhooks match; texts are Markdown templates in the
 * language of `NotificationText.render`. notifications-audit-insights.md §A2.
 */
import { Uuid } from "../platform/texts/Uuid.js"

/** A button of a notification. Both values are templates until the event is raised. */
export interface NotificationAction {
  readonly label: string
  readonly url: string
}

/** A kind of event. `labels` and `optional` are the names of the texts that each event of the kind brings. */
export interface NotificationEvent<Label extends string = string, Optional extends string = string> {
  readonly id: Uuid
  readonly name: string
  readonly group: string
  readonly kind: "system" | "custom"
  /** False: a user is told only after choosing so. */
  readonly enabled_by_default: boolean
  readonly title: string
  readonly body: string
  readonly actions: ReadonlyArray<NotificationAction>
  readonly labels: ReadonlyArray<Label>
  readonly optional: ReadonlyArray<Optional>
}

interface Definition<Label extends string, Optional extends string> {
  readonly id: string
  readonly name: string
  readonly labels?: ReadonlyArray<Label>
  readonly optional?: ReadonlyArray<Optional>
  readonly off?: true
  readonly title: string
  readonly body: string
  readonly actions?: ReadonlyArray<readonly [label: string, url: string]>
}

const groupOf =
  (group: string, kind: NotificationEvent["kind"] = "system") =>
  <const Label extends string = never, const Optional extends string = never>({
    actions = [],
    body,
    id,
    labels = [],
    name,
    off,
    optional = [],
    title
  }: Definition<Label, Optional>): NotificationEvent<Label, Optional> => ({
    id: Uuid.make(id),
    name,
    group,
    kind,
    enabled_by_default: off !== true,
    title,
    body,
    actions: actions.map(([label, url]) => ({ label, url: `{{{base_url}}}${url}` })),
    labels,
    optional
  })

const ofWorkspaces = groupOf("Workspace Events")
const ofUsers = groupOf("User Events")
const ofTemplates = groupOf("Template Events")
const ofTasks = groupOf("Task Events")
const ofBudgets = groupOf("AI Cost Control Events")
const ofBudgetAdmins = groupOf("AI Cost Control Admin Events")
const ofChats = groupOf("Chat Events")

const ownWorkspace = (label: string): readonly [string, string] => ["View workspace", `/@{{username}}/{{labels.${label}}}`]
const anyWorkspace = ["View workspace", "/@{{labels.workspace_owner_username}}/{{labels.workspace}}"] as const
const activeUsers = ["View accounts", "/deployment/users?filter=status%3Aactive"] as const
const suspendedUsers = ["View suspended accounts", "/deployment/users?filter=status%3Asuspended"] as const

const taskState = (name: string, id: string, state: string) =>
  ofTasks({
    id,
    name,
    labels: ["task", "workspace"],
    off: true,
    title: `Task '{{labels.task}}' ${state}`,
    body: `The task **{{labels.task}}** ${state}.`,
    actions: [
      ["View task", "/tasks/{{username}}/{{labels.workspace}}"],
      ["View workspace", "/@{{username}}/{{labels.workspace}}"]
    ]
  })

const taskChange = (name: string, id: string, change: string, reason: string) => ({
  id,
  name,
  title: `Task '{{labels.task}}' was ${change}`,
  body: `The task **{{labels.task}}** was ${change}${reason}.`,
  actions: [
    ["View task", "/tasks/{{username}}/{{labels.task_id}}"],
    ["View workspace", "/@{{username}}/{{labels.workspace}}"]
  ] as const
})

const budgetLabels = [
  "threshold",
  "limit",
  "period",
  "limit_source",
  "username",
  "effective_group_name",
  "organization_name",
  "period_start",
  "period_end"
] as const
const budget =
  "of **{{labels.limit}}** for the period {{labels.period_start}} to {{labels.period_end}} (limit of {{labels.limit_source}}, group **{{labels.effective_group_name}}**)"
const budgetMember = [
  ["View group", "/organizations/{{labels.organization_name}}/groups/{{labels.effective_group_name}}?filter={{labels.username}}"]
] as const

/** Every event, by the name that the code has for it. */
export const notificationEvents = {
  workspaceCreated: ofWorkspaces({
    id: "281fdf73-c6d6-4cbb-8ff5-888baf8a2fff",
    name: "Workspace Created",
    labels: ["workspace", "template", "version", "workspace_owner_username"],
    off: true,
    title: "Workspace '{{labels.workspace}}' was created",
    body: "The workspace **{{labels.workspace}}** of **{{labels.workspace_owner_username}}** was created from the template **{{labels.template}}** at version **{{labels.version}}**.",
    actions: [anyWorkspace]
  }),
  workspaceManuallyUpdated: ofWorkspaces({
    id: "d089fe7b-d5c5-4c0c-aaf5-689859f7d392",
    name: "Workspace Manually Updated",
    labels: ["workspace", "template", "version", "workspace_owner_username", "organization", "initiator"],
    off: true,
    title: "Workspace '{{labels.workspace}}' was updated",
    body: "**{{labels.initiator}}** moved the workspace **{{labels.workspace}}** of **{{labels.workspace_owner_username}}** to version **{{labels.version}}** of the template **{{labels.template}}**.",
    actions: [anyWorkspace, ["View template version", "/templates/{{labels.organization}}/{{labels.template}}/versions/{{labels.version}}"]]
  }),
  workspaceDeleted: ofWorkspaces({
    id: "f517da0b-cdc9-410f-ab89-a86107c420ed",
    name: "Workspace Deleted",
    labels: ["name", "reason", "initiator"],
    title: "Workspace '{{labels.name}}' was deleted",
    body: "Your workspace **{{labels.name}}** was deleted by **{{labels.initiator}}**. Reason: {{labels.reason}}.",
    actions: [
      ["View workspaces", "/workspaces"],
      ["View templates", "/templates"]
    ]
  }),
  workspaceAutobuildFailed: ofWorkspaces({
    id: "381df2a9-c0c0-4749-420f-80a9280c66f9",
    name: "Workspace Autobuild Failed",
    labels: ["name", "reason"],
    title: "Automatic build of workspace '{{labels.name}}' failed",
    body: "An automatic build of your workspace **{{labels.name}}** failed. Reason of the build: {{labels.reason}}.",
    actions: [ownWorkspace("name")]
  }),
  workspaceManualBuildFailed: ofWorkspaces({
    id: "2faeee0f-26cb-4e96-821c-85ccb9f71513",
    name: "Workspace Manual Build Failed",
    labels: ["name", "template_name", "template_version_name", "initiator", "workspace_owner_username", "workspace_build_number"],
    title: "Build of workspace '{{labels.name}}' failed",
    body: "Build **{{labels.workspace_build_number}}** of the workspace **{{labels.name}}** of **{{labels.workspace_owner_username}}** failed. It was started by **{{labels.initiator}}** with version **{{labels.template_version_name}}** of the template **{{labels.template_name}}**.",
    actions: [["View build", "/@{{labels.workspace_owner_username}}/{{labels.name}}/builds/{{labels.workspace_build_number}}"]]
  }),
  workspaceDormant: ofWorkspaces({
    id: "0ea69165-ec14-4314-91f1-69566ac3c5a0",
    name: "Workspace Marked as Dormant",
    labels: ["name", "reason"],
    optional: ["timeTilDelete"],
    title: "Workspace '{{labels.name}}' is dormant",
    body: "Your workspace **{{labels.name}}** was marked as dormant. Reason: {{labels.reason}}.{{#labels.timeTilDelete}} It will be deleted {{labels.timeTilDelete}}.{{/labels.timeTilDelete}} Start it to make it active again.",
    actions: [ownWorkspace("name")]
  }),
  workspaceMarkedForDeletion: ofWorkspaces({
    id: "51ce2fdf-c9ca-4be1-8d70-628674f9bc42",
    name: "Workspace Marked for Deletion",
    labels: ["name", "reason", "timeTilDormant"],
    title: "Workspace '{{labels.name}}' will be deleted",
    body: "Your dormant workspace **{{labels.name}}** will be deleted {{labels.timeTilDormant}}. Reason: {{labels.reason}}. Start it to keep it.",
    actions: [ownWorkspace("name")]
  }),
  workspaceAutoUpdated: ofWorkspaces({
    id: "c34a0c09-0704-4cac-bd1c-0c0146811c2b",
    name: "Workspace Updated Automatically",
    labels: ["name", "initiator", "reason", "template_version_name", "template_version_message"],
    title: "Workspace '{{labels.name}}' was updated automatically",
    body: "Your workspace **{{labels.name}}** was updated to version **{{labels.template_version_name}}**.\n\nMessage of the version: {{labels.template_version_message}}",
    actions: [ownWorkspace("name")]
  }),
  workspaceAutostopReminder: ofWorkspaces({
    id: "6f6cb984-c167-4fa5-bb87-1058dd642779",
    name: "Workspace Autostop Reminder",
    labels: ["workspace", "timeTilShutdown"],
    title: "Workspace '{{labels.workspace}}' will stop soon",
    body: "Your workspace **{{labels.workspace}}** will stop {{labels.timeTilShutdown}}. Extend its deadline or use it to keep it running.",
    actions: [ownWorkspace("workspace")]
  }),
  workspaceOutOfMemory: ofWorkspaces({
    id: "a9d027b4-ac49-4fb1-9f6d-45af15f64e7a",
    name: "Workspace Out Of Memory",
    labels: ["workspace", "threshold"],
    title: "Workspace '{{labels.workspace}}' is low on memory",
    body: "Your workspace **{{labels.workspace}}** has reached the memory usage threshold of **{{labels.threshold}}**.",
    actions: [ownWorkspace("workspace")]
  }),
  workspaceOutOfDisk: ofWorkspaces({
    id: "f047f6a3-5713-40f7-85aa-0394cce9fa3a",
    name: "Workspace Out Of Disk",
    labels: ["workspace"],
    title: "Workspace '{{labels.workspace}}' is low on volume space",
    body: "Volumes of your workspace **{{labels.workspace}}** have reached their usage thresholds:\n\n{{#data.volumes}}- **{{path}}**: {{threshold}}\n{{/data.volumes}}",
    actions: [ownWorkspace("workspace")]
  }),
  userCreated: ofUsers({
    id: "4e19c0ac-94e1-4532-9515-d1801aa283b2",
    name: "User account created",
    labels: ["created_account_name", "created_account_user_name", "initiator"],
    title: "User account '{{labels.created_account_name}}' was created",
    body: "The account **{{labels.created_account_name}}**{{#labels.created_account_user_name}} of **{{labels.created_account_user_name}}**{{/labels.created_account_user_name}} was created by **{{labels.initiator}}**.",
    actions: [activeUsers]
  }),
  userDeleted: ofUsers({
    id: "f44d9314-ad03-4bc8-95d0-5cad491da6b6",
    name: "User account deleted",
    labels: ["deleted_account_name", "deleted_account_user_name", "initiator"],
    title: "User account '{{labels.deleted_account_name}}' was deleted",
    body: "The account **{{labels.deleted_account_name}}**{{#labels.deleted_account_user_name}} of **{{labels.deleted_account_user_name}}**{{/labels.deleted_account_user_name}} was deleted by **{{labels.initiator}}**.",
    actions: [activeUsers]
  }),
  userSuspended: ofUsers({
    id: "b02ddd82-4733-4d02-a2d7-c36f3598997d",
    name: "User account suspended",
    labels: ["suspended_account_name", "suspended_account_user_name", "initiator"],
    title: "User account '{{labels.suspended_account_name}}' was suspended",
    body: "The account **{{labels.suspended_account_name}}**{{#labels.suspended_account_user_name}} of **{{labels.suspended_account_user_name}}**{{/labels.suspended_account_user_name}} was suspended by **{{labels.initiator}}**.",
    actions: [suspendedUsers]
  }),
  userActivated: ofUsers({
    id: "9f5af851-8408-4e73-a7a1-c6502ba46689",
    name: "User account activated",
    labels: ["activated_account_name", "activated_account_user_name", "initiator"],
    title: "User account '{{labels.activated_account_name}}' was activated",
    body: "The account **{{labels.activated_account_name}}**{{#labels.activated_account_user_name}} of **{{labels.activated_account_user_name}}**{{/labels.activated_account_user_name}} was activated by **{{labels.initiator}}**.",
    actions: [activeUsers]
  }),
  ownAccountSuspended: ofUsers({
    id: "6a2f0609-9b69-4d36-a989-9f5925b6cbff",
    name: "Your account has been suspended",
    labels: ["suspended_account_name", "suspended_account_user_name", "initiator"],
    title: "Your account '{{labels.suspended_account_name}}' was suspended",
    body: "Your account **{{labels.suspended_account_name}}** was suspended by **{{labels.initiator}}**."
  }),
  ownAccountActivated: ofUsers({
    id: "1a6a6bea-ee0a-43e2-9e7c-eabdb53730e4",
    name: "Your account has been activated",
    labels: ["activated_account_name", "activated_account_user_name", "initiator"],
    title: "Your account '{{labels.activated_account_name}}' was activated",
    body: "Your account **{{labels.activated_account_name}}** was activated by **{{labels.initiator}}**.",
    actions: [["Open", ""]]
  }),
  oneTimePasscode: ofUsers({
    id: "62f86a30-2330-4b61-a26d-311ff3b608cf",
    name: "One-Time Passcode",
    labels: ["one_time_passcode"],
    title: "Your one-time passcode",
    body: "A password reset was requested for your account. Your one-time passcode is **{{labels.one_time_passcode}}**. If this was not you, ignore this message: your password stays as it is.",
    actions: [["Reset password", "/reset-password/change?otp={{labels.one_time_passcode}}&email={{email}}"]]
  }),
  templateDeleted: ofTemplates({
    id: "29a09665-2a4c-403f-9648-54301670e7be",
    name: "Template Deleted",
    labels: ["name", "initiator"],
    title: "Template '{{labels.name}}' was deleted",
    body: "The template **{{labels.name}}** was deleted by **{{labels.initiator}}**.",
    actions: [["View templates", "/templates"]]
  }),
  templateDeprecated: ofTemplates({
    id: "f40fae84-55a2-42cd-99fa-b41c1ca64894",
    name: "Template Deprecated",
    labels: ["template", "message", "organization"],
    title: "Template '{{labels.template}}' is deprecated",
    body: "The template **{{labels.template}}** is deprecated:\n\n{{{labels.message}}}\n\nNo new workspaces can be created from it. Existing ones go on.",
    actions: [
      ["View affected workspaces", "/workspaces?filter=owner%3Ame+template%3A{{labels.template}}"],
      ["View template", "/templates/{{labels.organization}}/{{labels.template}}"]
    ]
  }),
  buildsFailedReport: ofTemplates({
    id: "34a20db2-e9cc-4a93-b0e4-8569699d7a00",
    name: "Report: Workspace Builds Failed",
    title: "Failed workspace builds of the last {{data.report_frequency}}",
    body: "{{#data.templates}}The template **{{display_name}}** had {{failed_builds}} failed of {{total_builds}} builds:\n\n{{#versions}}- **{{template_version_name}}**: {{failed_count}} failed\n{{#failed_builds}}  - [{{workspace_owner_username}} / {{workspace_name}} / #{{build_number}}]({{{base_url}}}/@{{workspace_owner_username}}/{{workspace_name}}/builds/{{build_number}})\n{{/failed_builds}}{{/versions}}\n{{/data.templates}}",
    actions: [
      [
        "View workspaces",
        "/workspaces?filter={{#data.templates}}{{#versions}}{{#failed_builds}}id%3A{{workspace_id}}+{{/failed_builds}}{{/versions}}{{/data.templates}}"
      ]
    ]
  }),
  prebuiltResourceReplaced: ofTemplates({
    id: "89d9745a-816e-4695-a17f-3d0a229e2b8d",
    name: "Prebuilt Workspace Resource Replaced",
    labels: ["org", "workspace", "template", "template_version", "preset", "workspace_build_num", "claimant"],
    title: "Resources of the prebuilt workspace '{{labels.workspace}}' were replaced",
    body: "When **{{labels.claimant}}** claimed the workspace **{{labels.workspace}}**, version **{{labels.template_version}}** of the template **{{labels.template}}** replaced resources:\n\n{{#data.shown}}- **{{resource}}**: {{paths}}\n{{/data.shown}}",
    actions: [
      ["View build", "/@{{labels.claimant}}/{{labels.workspace}}/builds/{{labels.workspace_build_num}}"],
      ["View template version", "/templates/{{labels.org}}/{{labels.template}}/versions/{{labels.template_version}}"]
    ]
  }),
  prebuildFailureLimit: ofTemplates({
    id: "414d9331-c1fc-4761-b40c-d1f4702279eb",
    name: "Prebuild Failure Limit Reached",
    labels: ["org", "template", "preset"],
    title: "Prebuilds of the template '{{labels.template}}' fail",
    body: "The preset **{{labels.preset}}** of the template **{{labels.template}}** has reached the limit of failed prebuilds.",
    actions: [["View template", "/templates/{{labels.org}}/{{labels.template}}"]]
  }),
  taskWorking: taskState("Task Working", "bd4b7168-d05e-4e19-ad0f-3593b77aa90f", "is working"),
  taskIdle: taskState("Task Idle", "d4a6271c-cced-4ed0-84ad-afd02a9c7799", "is idle"),
  taskCompleted: taskState("Task Completed", "8c5a4d12-9f7e-4b3a-a1c8-6e4f2d9b5a7c", "is complete"),
  taskFailed: taskState("Task Failed", "3b7e8f1a-4c2d-49a6-b5e9-7f3a1c8d6b4e", "has failed"),
  taskPaused: ofTasks({
    ...taskChange("Task Paused", "2a74f3d3-ab09-4123-a4a5-ca238f4f65a1", "paused", ". Reason: {{labels.pause_reason}}"),
    labels: ["task", "task_id", "workspace", "pause_reason"]
  }),
  taskResumed: ofTasks({
    ...taskChange("Task Resumed", "843ee9c3-a8fb-4846-afa9-977bec578649", "resumed", ""),
    labels: ["task", "task_id", "workspace"]
  }),
  aiBudgetWarning: ofBudgets({
    id: "b5db9597-de2a-4dea-87e9-25cee6906b86",
    name: "AI Budget Warning",
    labels: budgetLabels,
    title: "You have used {{labels.threshold}}% of your AI budget",
    body: `You have used **{{labels.threshold}}%** ${budget}.`
  }),
  aiBudgetReached: ofBudgets({
    id: "cdcf2ecd-f003-4169-9800-abb2661ea522",
    name: "AI Budget Limit Reached",
    labels: budgetLabels,
    title: "You have reached your AI budget",
    body: `You have reached your budget ${budget}. Further requests are refused until the period ends.`
  }),
  userAiBudgetWarning: ofBudgetAdmins({
    id: "2a7b0ac1-00e1-4625-9cd5-1e5933972c77",
    name: "User Approaching AI Budget Limit",
    labels: budgetLabels,
    title: "'{{labels.username}}' has used {{labels.threshold}}% of an AI budget",
    body: `**{{labels.username}}** has used **{{labels.threshold}}%** ${budget}.`,
    actions: budgetMember
  }),
  userAiBudgetReached: ofBudgetAdmins({
    id: "0bafe0ea-a78b-4217-ad05-1ef12e92e025",
    name: "User Reached AI Budget Limit",
    labels: budgetLabels,
    title: "'{{labels.username}}' has reached an AI budget",
    body: `**{{labels.username}}** has reached the budget ${budget}. Further requests are refused until the period ends.`,
    actions: budgetMember
  }),
  chatsArchived: ofChats({
    id: "764031be-4863-4220-867b-6ce1a1b7a5f5",
    name: "Chats Auto-Archived",
    title: "Chats were archived",
    body: "These chats were archived after {{data.auto_archive_days}} days without activity:\n\n{{#data.archived_chats}}- {{title}} ({{last_activity_humanized}})\n{{/data.archived_chats}}{{#data.additional_archived_count}}\nand {{data.additional_archived_count}} more.{{/data.additional_archived_count}}",
    actions: [["View archived chats", "/agents?archived=archived"]]
  }),
  chatShared: ofChats({
    id: "b789bd75-d7c6-4cab-9757-1147ab184903",
    name: "Chat Shared",
    labels: ["chat_id", "chat_title", "initiator"],
    title: "Chat '{{labels.chat_title}}' was shared with you",
    body: "**{{labels.initiator}}** shared the chat **{{labels.chat_title}}** with you.",
    actions: [["View chat", "/agents/{{labels.chat_id}}"]]
  }),
  test: groupOf("Notification Events")({
    id: "c425f63e-716a-4bf4-ae24-78348f706c3f",
    name: "Troubleshooting Notification",
    title: "A test notification",
    body: "This is a test notification. If you can read it, notifications arrive.",
    actions: [["View notification settings", "/deployment/notifications?tab=settings"]]
  }),
  custom: groupOf(
    "Custom Events",
    "custom"
  )({
    id: "39b1e189-c857-4b0c-877a-511144c18516",
    name: "Custom Notification",
    labels: ["custom_title", "custom_message"],
    title: "{{{labels.custom_title}}}",
    body: "{{{labels.custom_message}}}"
  })
}

/** Every event by the id of its template. */
export const notificationEventsById: ReadonlyMap<Uuid, NotificationEvent> = new Map(
  Object.values(notificationEvents).map((event): readonly [Uuid, NotificationEvent] => [event.id, event])
)

const icons: Readonly<Record<string, string>> = {
  "Workspace Events": "DEFAULT_ICON_WORKSPACE",
  "User Events": "DEFAULT_ICON_ACCOUNT"
}

const ofTemplate: ReadonlySet<Uuid> = new Set([
  notificationEvents.templateDeleted.id,
  notificationEvents.templateDeprecated.id,
  notificationEvents.buildsFailedReport.id
])

/** The name of the icon that clients show for an event. §A7. */
export const iconOf = (id: Uuid): string => {
  if (ofTemplate.has(id)) return "DEFAULT_ICON_TEMPLATE"
  return icons[notificationEventsById.get(id)?.group ?? ""] ?? "DEFAULT_ICON_OTHER"
}
