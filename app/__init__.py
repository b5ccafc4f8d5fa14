"""The application: settings put to work, and one service for page, API and command line.

In: settings from the environment, and calls of users. Out: a running service, and replies.

    settings.py           the table of environment variables
    settings_checks.py    their types and checks
    composition.py        builds database, engine, memory, agent and service
    service.py            the calls that page, API and command line make
    checked_input.py      checks of what callers send
    models/               choice of model and engine, bundled models
    serving/              a port, and page and API over one service
    api/                  the HTTP API
    auth/                 accounts, keys and sessions
    metrics.py            counts for Prometheus
    public_errors.py      messages fit for users
    comparison.py         one question as text and as KV, measured
    figures.py            medians, means and percentiles
    sample_person.py      a sample person's facts and questions
    doctor.py             checks of an installation
    hardware.py           the machine, for reports
    offline_erasure.py    audit and removal without an engine
"""
