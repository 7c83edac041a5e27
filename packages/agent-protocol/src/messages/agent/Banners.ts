/** Messages of the deployment to its users. agents-and-apps.md §14. */
import { bool, field, repeated, string, type TypeOf } from "../Protobuf.js"
import { agent } from "./agent.js"

const banner = { enabled: field(1, bool), message: field(2, string), background_color: field(3, string) }

export const GetServiceBannerRequest = agent("GetServiceBannerRequest", {})

export const ServiceBanner = agent("ServiceBanner", banner)
export type ServiceBanner = TypeOf<typeof ServiceBanner>

export const BannerConfig = agent("BannerConfig", banner)
export type BannerConfig = TypeOf<typeof BannerConfig>

export const GetAnnouncementBannersRequest = agent("GetAnnouncementBannersRequest", {})

export const GetAnnouncementBannersResponse = agent("GetAnnouncementBannersResponse", { announcement_banners: repeated(1, BannerConfig) })
export type GetAnnouncementBannersResponse = TypeOf<typeof GetAnnouncementBannersResponse>
