/** The addresses of users, organizations, their members, groups and roles. */
import { createRoute, redirect } from "@tanstack/react-router"
import { filterSearch } from "../../app/filter.js"
import { lazyScreen } from "../../app/lazy.js"
import { rootRoute } from "../../app/root.js"

export const peopleRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/users",
    validateSearch: filterSearch,
    beforeLoad: ({ search }) => {
      throw redirect({ to: "/deployment/users", search, replace: true })
    }
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/deployment/users",
    validateSearch: filterSearch,
    component: lazyScreen(() => import("./UserList.js"), "UserList")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/deployment/users/$user",
    component: lazyScreen(() => import("./UserDetail.js"), "UserDetail")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/organizations",
    component: lazyScreen(() => import("./OrganizationList.js"), "OrganizationList")
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
    validateSearch: filterSearch,
    component: lazyScreen(() => import("./MemberList.js"), "MemberList")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/organizations/$organization/groups",
    component: lazyScreen(() => import("./GroupList.js"), "GroupList")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/organizations/$organization/groups/$group",
    validateSearch: filterSearch,
    component: lazyScreen(() => import("./GroupDetail.js"), "GroupDetail")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/organizations/$organization/roles",
    component: lazyScreen(() => import("./RoleList.js"), "RoleList")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/organizations/$organization/roles/$role",
    component: lazyScreen(() => import("./RoleDetail.js"), "RoleDetail")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/organizations/$organization/create-role",
    component: lazyScreen(() => import("./RoleDetail.js"), "RoleCreation")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/organizations/$organization/provisioners",
    component: lazyScreen(() => import("./Provisioners.js"), "Provisioners")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/organizations/$organization/settings",
    component: lazyScreen(() => import("./OrganizationSettings.js"), "OrganizationSettings")
  })
] as const
