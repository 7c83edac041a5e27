export const servicesFile: string
export const servicesPage: () => Promise<string>
