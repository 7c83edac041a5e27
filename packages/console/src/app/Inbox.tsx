/** The bell, and the notices behind it, which come by a stream. */
import * as inbox from "@atelier/client/inbox"
import type { ListInboxNotificationsResponse } from "@atelier/client"
import { queryOptions, useMutation, useQuery } from "@tanstack/react-query"
import { Bell, Check, CheckCheck } from "lucide-react"
import { inboxText } from "../texts/shell.js"
import { Button, IconButton } from "../ui/forms/Button.js"
import { Popover } from "../ui/floating/Popover.js"
import { Empty, ErrorState, SkeletonLines } from "../ui/page/States.js"
import { Time } from "../ui/page/Time.js"
import { notifyError } from "../ui/floating/Toast.js"
import { client } from "./client.js"
import { config, isWebAddress } from "./config.js"
import { useLive } from "./live.js"
import { queryClient } from "./queries.js"
import "./Inbox.css"

const maximumKept = 50
const minute = 60_000

const inboxQuery = queryOptions({
  queryKey: ["inbox"],
  queryFn: ({ signal }) => inbox.listInboxNotifications(client, {}, { signal }),
  staleTime: minute,
  // A notice that came while the stream was not open
  refetchInterval: minute
})

const update = (change: (before: ListInboxNotificationsResponse) => ListInboxNotificationsResponse): void =>
  void queryClient.setQueryData(inboxQuery.queryKey, (before) => (before === undefined ? before : change(before)))

/** The bold parts of a message, which is Markdown; its other marks are not used. */
const emphasized = (content: string) =>
  content.split(/\*\*(.+?)\*\*/s).map((part, index) => {
    const text = part.replaceAll(/\\([!-/:-@[-`{-~])/g, "$1")
    return index % 2 === 1 ? <strong key={index}>{text}</strong> : text
  })

/** Addresses of actions belong to the deployment: those of the console's own origin stay within it. */
const linkOf = (address: string): string | undefined => {
  if (!isWebAddress(address)) return undefined
  const { hash, origin, pathname, search } = new URL(address, `${location.origin}${config.base}`)
  return origin === location.origin ? `${pathname}${search}${hash}` : address
}

export const Inbox = ({ isCollapsed }: { readonly isCollapsed: boolean }) => {
  const { data, error, isLoadingError, isPending, refetch } = useQuery(inboxQuery)
  useLive({
    of: ["inbox"],
    open: (signal) => inbox.watchInboxNotifications(client, { format: "plaintext" }, { signal }),
    onValue: ({ notification, unread_count }) => {
      // A list that is on its way may be from before the notice
      if (data === undefined || queryClient.isFetching(inboxQuery) > 0)
        return void queryClient.cancelQueries(inboxQuery).then(() => queryClient.refetchQueries(inboxQuery))
      return update(({ notifications }) => ({
        notifications: [notification, ...notifications.filter(({ id }) => id !== notification.id)].slice(0, maximumKept),
        unread_count
      }))
    }
  })
  const read = useMutation({
    mutationFn: ({ id, is_read }: { readonly id: string; readonly is_read: boolean }) =>
      inbox.updateInboxNotificationReadStatus(client, { id, body: { is_read } }),
    onSuccess: ({ notification, unread_count }) =>
      update(({ notifications }) => ({
        notifications: notifications.map((each) => (each.id === notification.id ? notification : each)),
        unread_count
      })),
    onError: notifyError
  })
  const readAll = useMutation({
    mutationFn: () => inbox.markAllInboxNotificationsAsRead(client),
    onSuccess: () => refetch(),
    onError: notifyError
  })
  const unread = data?.unread_count ?? 0
  return (
    <Popover
      align="start"
      label={inboxText.title}
      trigger={
        <button type="button" className="bell place">
          <span className="visually-hidden">{inboxText.unread(unread)}</span>
          <Bell aria-hidden />
          <span className="sidebar-label truncate" aria-hidden>
            {inboxText.title}
          </span>
          {unread === 0 ? null : (
            <span className="bell-count" aria-hidden>
              {isCollapsed ? "" : unread > 99 ? "99+" : unread}
            </span>
          )}
        </button>
      }
    >
      <div className="inbox">
        <div className="inbox-head">
          <h2>{inboxText.title}</h2>
          <Button
            size="small"
            kind="quiet"
            icon={<CheckCheck />}
            disabled={unread === 0}
            isBusy={readAll.isPending}
            onClick={() => readAll.mutate()}
          >
            {inboxText.readAll}
          </Button>
        </div>
        <div className="inbox-list" tabIndex={0} role="region" aria-label={inboxText.title}>
          {isPending ? (
            <div className="inbox-item">
              <SkeletonLines count={4} />
            </div>
          ) : isLoadingError ? (
            <ErrorState error={error} onRetry={refetch} />
          ) : data.notifications.length === 0 ? (
            <Empty icon={<Bell />} title={inboxText.empty}>
              {inboxText.emptyHint}
            </Empty>
          ) : (
            <ul>
              {data.notifications.map(({ actions, content, created_at, id, read_at, title }) => (
                <li key={id} className="inbox-item" data-unread={read_at === null || undefined}>
                  <div className="inbox-body">
                    <div className="inbox-title">{title}</div>
                    <div className="inbox-content">{emphasized(content)}</div>
                    <div className="inbox-foot">
                      <Time at={created_at} />
                      {actions.map(({ label, url }) => {
                        const link = linkOf(url)
                        return link === undefined ? null : (
                          <a key={`${label} ${url}`} className="link" href={link}>
                            {label}
                          </a>
                        )
                      })}
                    </div>
                  </div>
                  {read_at === null ? (
                    <IconButton
                      size="small"
                      label={inboxText.markRead}
                      icon={<Check />}
                      onClick={() => read.mutate({ id, is_read: true })}
                    />
                  ) : null}
                </li>
              ))}
            </ul>
          )}
        </div>
      </div>
    </Popover>
  )
}
