"""What every HTTP surface shares: the guard, strict JSON, error rendering, logs, metrics, assembly and serving.

Besides each surface's own routes this is the only place that touches the web framework. It knows no service and no
store: the composition root hands in the authenticator, the tenant switch and the gauges.
"""
