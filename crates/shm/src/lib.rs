//! The host's own cores as a transport: ranks are processes that attach to one shared segment.
