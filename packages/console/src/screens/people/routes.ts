/** The addresses of users, organizations, their members, groups and roles. */
import { createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router"
import { rootRoute } from "../../app/root.js"

export interface FilterSearch {
  readonly filter?: string
}

const filterOf = ({ filter }: Readonly<Record<string, unknown>>): FilterSearch =>
  typeof filter === "string" && filter !== "" ? { filter } : {}

export const peopleRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/users",
    validateSearch: filterOf,
    beforeLoad: ({ search }) => {
      throw redirect({ to: "/deployment/users", search, replace: true })
    }
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/deployment/users",
    validateSearch: filterOf,
    component: lazyRouteComponent(() => import("./UserList.js"), "UserList")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/deployment/users/$user",
    component: lazyRouteComponent(() => import("./UserDetail.js"), "UserDetail")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/organizations",
    component: lazyRouteComponent(() => import("./OrganizationList.js"), "OrganizationList")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/organizations/$organization",
    beforeLoad: ({ params }) => {
      throw redirect({ to: "/organizations/$organization/members", params, replace: true })
    }
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/organizations/$organization/members",
    validateSearch: filterOf,
    component: lazyRouteComponent(() => import("./MemberList.js"), "MemberList")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/organizations/$organization/groups",
    component: lazyRouteComponent(() => import("./GroupList.js"), "GroupList")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/organizations/$organization/groups/$group",
    validateSearch: filterOf,
    component: lazyRouteComponent(() => import("./GroupDetail.js"), "GroupDetail")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/organizations/$organization/roles",
    component: lazyRouteComponent(() => import("./RoleList.js"), "RoleList")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/organizations/$organization/roles/$role",
    component: lazyRouteComponent(() => import("./RoleDetail.js"), "RoleDetail")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/organizations/$organization/create-role",
    component: lazyRouteComponent(() => import("./RoleDetail.js"), "RoleCreation")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/organizations/$organization/provisioners",
    component: lazyRouteComponent(() => import("./Provisioners.js"), "Provisioners")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/organizations/$organization/settings",
    component: lazyRouteComponent(() => import("./OrganizationSettings.js"), "OrganizationSettings")
  })
] as const
