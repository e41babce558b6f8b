// Keeps the page for when there is no connection. `build` writes the names of the files, and a name that changes with
// any of them.
const NAME = "tamis-@NAME@";
const FILES = [
@FILES@
];

self.addEventListener("install", (event) => {
  event.waitUntil(
    caches
      .open(NAME)
      // Past the browser's own cache, which may hold an older page.
      .then((cache) => cache.addAll(FILES.map((file) => new Request(file, { cache: "reload" }))))
      .then(() => self.skipWaiting()),
  );
});

self.addEventListener("activate", (event) => {
  const isOld = (name) => name.startsWith("tamis-") && name !== NAME;
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter(isOld).map((name) => caches.delete(name))))
      .then(() => self.clients.claim()),
  );
});

self.addEventListener("fetch", (event) => {
  if (event.request.method !== "GET" || new URL(event.request.url).origin !== self.location.origin) return;
  const key = event.request.mode === "navigate" ? "./index.html" : event.request;
  event.respondWith(
    caches.open(NAME).then(async (cache) => (await cache.match(key, { ignoreSearch: true })) ?? fetch(event.request)),
  );
});
